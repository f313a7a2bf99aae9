"""What the comparisons share: starting servers on free ports, CPU time of a process, medians of interleaved rounds."""
from __future__ import annotations

import atexit
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOY = ROOT / "tests" / "cases" / "toy"


# What was started is ended however a comparison ends: at exit, to which a SIGTERM leads, too.
signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, all its threads: the clock that clock_getcpuclockid(3) names."""
    return time.clock_gettime((~pid << 3) | 2)


class Server:
    """A process that prints its address, ended by its id: by stop(), or when Python exits."""

    def __init__(self, args: list[str], pattern: str = r"http://([\d.]+):(\d+)", stderr=subprocess.DEVNULL):
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=stderr, text=True)
        atexit.register(self.stop)
        line = self.process.stdout.readline()
        hit = re.search(pattern, line)
        if not hit:
            raise SystemExit(f"{args[:2]} did not start: {line!r}")
        self.host, self.port = hit.group(1), int(hit.group(2))
        self.pid = self.process.pid

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Nginx:
    """One worker that relays everything to `upstream`; "off": each piece as it comes, "on": with its buffers, which costs less."""

    def __init__(self, upstream: Server, buffering: str = "off"):
        self.dir = tempfile.TemporaryDirectory(prefix="bench-nginx-")
        self.port = free_port()
        conf = Path(self.dir.name) / "nginx.conf"
        conf.write_text(f"""
worker_processes 1; daemon off; pid {self.dir.name}/pid; error_log {self.dir.name}/error crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {self.dir.name}/b; proxy_temp_path {self.dir.name}/p; fastcgi_temp_path {self.dir.name}/f;
  uwsgi_temp_path {self.dir.name}/u; scgi_temp_path {self.dir.name}/s; keepalive_requests 1000000; client_body_buffer_size 1m;
  upstream engine {{ server {upstream.host}:{upstream.port}; keepalive 256; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{self.port};
    location / {{ proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering {buffering}; }}
  }}
}}
""")
        self.process = subprocess.Popen(["nginx", "-c", str(conf), "-e", f"{self.dir.name}/error"])
        atexit.register(self.stop)
        self.url = f"http://127.0.0.1:{self.port}"
        self.worker = self._worker()

    def _worker(self) -> int:
        end = time.time() + 10
        while time.time() < end:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            if children:
                return int(children[0])
        raise SystemExit("nginx did not start")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        self.dir.cleanup()


def free_port() -> int:
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url: str) -> bytes:
    return urllib.request.urlopen(url, timeout=10).read()


def wrk(url: str, body: str, seconds: float, connections: int) -> int:
    """Posts `body` as fast as it goes; the number of whole answers."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua", delete=False) as script:
        quoted = body.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        script.write(f'wrk.method = "POST"\nwrk.body = "{quoted}"\nwrk.headers["Content-Type"] = "application/json"\n')
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "20s", "-s", script.name, url], capture_output=True, text=True, check=True).stdout
    os.unlink(script.name)
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    if bad:
        raise SystemExit(f"{url}: {bad.group(0)}")
    return int(re.search(r"(\d+) requests in", out).group(1))


def summary(values: list[float]) -> str:
    return f"{statistics.median(values):8.2f} (min {min(values):.2f}, max {max(values):.2f})"
