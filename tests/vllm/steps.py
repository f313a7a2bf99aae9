"""What tests do to a stack, by ids and by messages."""
from __future__ import annotations

import json
import re
import subprocess
import threading
import time

from agent import QUESTIONS, Agent
from conftest import PATIENCE
from dialogue import Dialogue, user
from programs import BINARY, until
from raw_http import Connection, sse

# Ids of an answer that nobody waits for, and how many of them may be sampled behind a client that hung up.
LONG, FEW = 3000, 1500


def doctor(url: str, mode: str) -> subprocess.CompletedProcess:
    """The first answer to a prompt of some length takes longer than all behind it, on a busy CPU longer than the doctor waits: it is asked again."""
    def asked() -> subprocess.CompletedProcess | None:
        done = subprocess.run([BINARY, "doctor", "--engine", url, "--engine-mode", mode], capture_output=True, text=True, timeout=60)
        return None if "no answer in time" in done.stderr else done

    return until(asked, "the doctor is answered in time", seconds=120)


def hold(gateway, questions, **options) -> tuple[str, Agent]:
    session = gateway.session()
    agent = Agent(f"{gateway.url}/sessions/{session}/v1", timeout=PATIENCE, **options)
    for question in questions:
        agent.ask(question)
    agent.close()
    return session, agent


def hold_at_once(gateway, count: int = 4, **options) -> list[tuple[str, Agent]]:
    """Conversations of four turns; every other one streams."""
    held, failed = [], []

    def run(number: int) -> None:
        try:
            held.append(hold(gateway, [f"{number}: {question}" for question in QUESTIONS[:2]], stream=bool(number % 2), **options))
        except BaseException as error:  # noqa: BLE001  told below
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed, failed
    return held


def events(body: bytes) -> list[str]:
    """Without the comments that keep a stream alive while the engine takes its time."""
    return sse(re.sub(rb"^:[^\n]*\n\n", b"", body, flags=re.M))


def begin(stack, dialogue: Dialogue, *more, **parameters) -> Connection:
    """A request that the engine works on. Mode derender says nothing before all is sampled."""
    client = Connection(stack.gateway.program.host_port)
    client.socket.settimeout(PATIENCE)
    body = json.dumps(dialogue.body(*more, **{"stream": True} | parameters)).encode()
    client.send(b"POST /sessions/%s/v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % (dialogue.session.encode(), len(body)) + body)
    until(lambda: stack.vllm.running() == 1, "the engine samples", PATIENCE)
    return client


def hang_up(stack, dialogue: Dialogue, **parameters) -> tuple[int, float]:
    """The client goes while the engine samples: how many ids were, and how many seconds later none is."""
    sampled = stack.vllm.sampled()
    begin(stack, dialogue, user("go on"), **parameters).socket.close()
    began = time.monotonic()
    until(lambda: stack.vllm.running() == 0, "vLLM stopped the request", PATIENCE)
    took, sampled = time.monotonic() - began, stack.vllm.sampled() - sampled
    assert sampled < FEW
    return sampled, took
