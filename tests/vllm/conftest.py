"""One real vLLM for all tests, and a gateway for each mode. VERBATIM_VLLM_URL names one that runs already (scripts/engines/vllm/server.py)."""
import functools
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests/e2e"), str(ROOT / "scripts/engines/vllm")]

from model_folder import VOCABULARY  # noqa: E402
from messages import MessageGateway  # noqa: E402
from programs import BINARY, MODEL, Gateway, until  # noqa: E402
from report import Report  # noqa: E402
from server import PYTHON, Server  # noqa: E402
from tap import Tap  # noqa: E402


def pytest_configure(config):
    for path, remedy in ((BINARY, "make build"), (MODEL / "tokenizer.json", "scripts/test-deps.sh"),
                         (PYTHON, "scripts/engines/vllm/install.sh .venv-vllm")):
        if not path.exists():
            raise pytest.UsageError(f"{path} is missing: run {remedy}")
    config.stash[REPORT] = Report()
    config.addinivalue_line("markers", "by_messages: in the modes of the message path, else in those by ids")


# Seconds. Each token passes three processes: on a machine with other work, answers take their time.
PATIENCE = 600
REPORT = pytest.StashKey[Report]()
numbers = itertools.count()


# No ids go up in them.
BY_MESSAGES = {"chat-text", "responses", "messages"}


@functools.cache
def all_modes() -> list[str]:
    """Those of kind vllm that the binary has, or the ones that VLLM_MODES names."""
    if chosen := os.environ.get("VLLM_MODES"):
        return re.split(r"[ ,]+", chosen.strip())
    listed = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    words = re.search(r"--engine-mode TEXT:\{([^}]*)\}", listed)[1].split(",")
    # A mode of another kind is a wrong command line: exit 2. One of this kind finds that nothing answers at a closed port: exit 1.
    asked = {word: subprocess.run([BINARY, "doctor", "--engine", "http://127.0.0.1:1", "--engine-kind", "vllm", "--engine-mode", word],
                                  capture_output=True).returncode for word in words if word != "auto"}
    return [word for word, code in asked.items() if code == 1]


def pytest_generate_tests(metafunc):
    by_messages = metafunc.definition.get_closest_marker("by_messages") is not None
    if "mode" in metafunc.fixturenames:
        metafunc.parametrize("mode", [mode for mode in all_modes() if (mode in BY_MESSAGES) == by_messages], scope="session")


@pytest.fixture(scope="session")
def report(request) -> Report:
    return request.config.stash[REPORT]


@pytest.fixture(scope="session")
def say(request):
    """Prints a line at once, also where output is captured."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(text: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"test-vllm: {text}", flush=True)

    return say


class Vllm:
    """The server itself, for what the gateway has no words for."""

    def __init__(self, url: str):
        self.url = url
        self.http = httpx.Client(base_url=url, timeout=PATIENCE)
        self.release = self.http.get("/version").json()["version"]

    def post(self, path: str, **options) -> dict:
        answer = self.http.post(path, **options)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def metric(self, name: str) -> int:
        return int(float(re.search(rf"^vllm:{name}\{{.*\}} (.*)$", self.http.get("/metrics").text, flags=re.M)[1]))

    def running(self) -> int:
        return self.metric("num_requests_running")

    def sampled(self) -> int:
        return self.metric("generation_tokens_total")


@pytest.fixture(scope="session")
def vllm(tmp_path_factory, report, say):
    server = None
    url = os.environ.get("VERBATIM_VLLM_URL")
    if not url:
        say("starting vLLM: two to five minutes, most of it imports")
        server = Server(tmp_path_factory.mktemp("vllm"), say=say)
        report.boot_seconds, report.flags, url = server.boot_seconds, server.flags, server.url
        say(f"vLLM is ready after {server.boot_seconds:.0f} s")
    vllm = Vllm(url)
    report.release = vllm.release
    yield vllm
    vllm.http.close()
    if server:
        server.close()


class Stack:
    """vLLM, the tap and a gateway of one mode."""

    def __init__(self, vllm: Vllm, folder: Path, mode: str, *options):
        folder.mkdir(parents=True)
        self.vllm, self.mode = vllm, mode
        self.tap = Tap(*vllm.url.removeprefix("http://").split(":"))
        if mode in BY_MESSAGES:
            self.gateway = MessageGateway(folder, self.tap.url, *options, kind="vllm", mode=mode)
        else:
            self.gateway = Gateway(folder, self.tap.url, "--vocab-size", VOCABULARY, *options, kind="vllm", mode=mode)
        self.gateway.http.timeout = PATIENCE
        self.tap.log.clear()

    def close(self) -> None:
        self.gateway.close()
        self.tap.close()


@pytest.fixture(scope="session")
def shared(vllm, mode, tmp_path_factory):
    stack = Stack(vllm, tmp_path_factory.mktemp("vllm") / mode, mode)
    yield stack
    stack.close()


@pytest.fixture
def stack(shared):
    """The shared one, as if fresh: nothing forced, nothing heard."""
    shared.tap.choose = lambda exchange: None
    shared.tap.log.clear()
    yield shared
    until(lambda: shared.vllm.running() == 0, "the engine is idle again", PATIENCE)


@pytest.fixture
def make_stack(vllm, tmp_path_factory):
    made = []

    def make(mode: str, *options) -> Stack:
        made.append(Stack(vllm, tmp_path_factory.mktemp("vllm") / f"{mode}-{next(numbers)}", mode, *options))
        return made[-1]

    yield make
    for stack in made:
        stack.close()


def pytest_sessionfinish(session, exitstatus):
    report = session.config.stash[REPORT]
    if exitstatus == 0 and report.flags and not session.config.option.keyword and not os.environ.get("VLLM_MODES"):
        path = ROOT / f"docs/reports/vllm-{report.release.split('+')[0]}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(report.text(all_modes()))
        print(f"\ntest-vllm: wrote {path.relative_to(ROOT)}")
