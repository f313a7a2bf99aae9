#!/usr/bin/env python3
"""Starts miles' session server (v1: one line of turns a session), as its trainer would, without the trainer.

    .venv-miles/bin/python scripts/peers/miles/server.py --engine http://127.0.0.1:30000 --model models/qwen3

Prints its URL when it listens. What is not here: SGLang, of which it imports one data class, and that for requests with tools."""
from __future__ import annotations

import argparse
import logging
import socket
import sys
import types
from importlib.resources import files

from pydantic import BaseModel


class Function(BaseModel):
    name: str
    description: str | None = None
    parameters: object | None = None
    strict: bool = False


class Tool(BaseModel):
    type: str = "function"
    function: Function


def stand_in_for_sglang() -> None:
    name = ""
    for part in ("sglang", "srt", "entrypoints", "openai", "protocol"):
        name = f"{name}.{part}".lstrip(".")
        sys.modules[name] = types.ModuleType(name)
    sys.modules[name].Tool = Tool


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--engine", required=True)
    ap.add_argument("--model", required=True, help="folder of Qwen3's tokenizer")
    args = ap.parse_args()
    stand_in_for_sglang()
    from miles.rollout.session.session_server import SessionServer
    import uvicorn

    template = files("miles_tito_tokenizers") / "templates" / "qwen3_fixed.jinja"
    options = argparse.Namespace(hf_checkpoint=args.model, chat_template_path=str(template), tito_model="qwen3", apply_chat_template_kwargs={"clear_thinking": False},
                                 tito_allowed_append_roles=["tool", "user", "system"])
    server = SessionServer(options, args.engine)
    port = free_port()

    class Server(uvicorn.Server):
        async def startup(self, sockets=None) -> None:
            await super().startup(sockets)
            print(f"miles on http://127.0.0.1:{port}", flush=True)

    # Its own start says log_level="info": a line for each request, which here would only fill a pipe.
    logging.disable(logging.INFO)
    Server(uvicorn.Config(server.app, host="127.0.0.1", port=port, log_level="warning")).run()


if __name__ == "__main__":
    main()
