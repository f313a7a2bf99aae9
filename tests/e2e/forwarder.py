"""A server between a client and the gateway: passes everything on and keeps what was sent. Given to a client as its proxy as well, it
notices each attempt to reach something else."""
from __future__ import annotations

import http.client
import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Of one connection: not passed on.
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "host"}


@dataclass
class Sent:
    path: str
    headers: dict[str, str]  # names in lower case
    body: dict


class Forwarder:
    def __init__(self, host: str, port: int):
        self.sent: list[Sent] = []  # POSTs, in order of their arrival
        self.strays: list[str] = []  # what was meant for another host
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def refuse(self):
                outer.strays.append(f"{self.command} {self.path}")
                self.close_connection = True
                self.send_error(403)

            def forward(self):
                if not self.path.startswith("/"):
                    return self.refuse()
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.command == "POST":
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    outer.sent.append(Sent(self.path, headers, json.loads(body)))
                upstream = http.client.HTTPConnection(host, port, timeout=60)
                passed = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
                upstream.request(self.command, self.path, body, passed)
                answer = upstream.getresponse()
                self.close_connection = True
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in HOP_BY_HOP:
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(piece)
                upstream.close()

            do_GET = do_POST = do_HEAD = forward
            do_CONNECT = refuse

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def environment(self) -> dict[str, str]:
        """Variables by which all that is not loopback comes here."""
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        return {name: self.url for name in names} | {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
