import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from faults import script  # noqa: E402
from forwarder import Forwarder  # noqa: E402
from programs import BINARY, MODEL, ROOT, Gateway, Simulator  # noqa: E402
from upstream import Frontends  # noqa: E402


def pytest_configure(config):
    for path, remedy in ((BINARY, "make build"), (MODEL / "tokenizer.json", "scripts/test-deps.sh"),
                         (ROOT / ".venv-dynamo/stamp", "scripts/test-deps.sh"), (ROOT / ".venv-dynamo-1.4.1/stamp", "scripts/test-deps.sh"),
                         (ROOT / "models/gpt-oss/tokenizer.json", "scripts/test-deps.sh")):
        if not path.exists():
            raise pytest.UsageError(f"{path} is missing: run {remedy}")


numbers = itertools.count()


class Stack:
    """Simulator and gateway, and one folder for both."""

    def __init__(self, folder: Path, *sim_options, script=None, serve_options=(), kind="sglang", mode="auto"):
        folder.mkdir(parents=True)
        self.sim = Simulator(folder, *sim_options, script=script, face=kind)
        try:
            self.gateway = Gateway(folder, self.sim.url, *serve_options, kind=kind, mode=mode)
        except BaseException:
            self.sim.program.kill()
            raise

    def close(self) -> None:
        self.gateway.close()
        self.sim.close()


@pytest.fixture(scope="session")
def workplace(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("e2e")


@pytest.fixture(scope="session")
def stack(workplace):
    """The stack most tests share: each uses sessions of its own. The simulator goes wrong when a prompt asks for it (faults.py)."""
    stack = Stack(workplace / "shared", script=script())
    yield stack
    stack.close()


@pytest.fixture(scope="session")
def frontends(workplace):
    """Real Dynamo frontends by release, all started at once; asking for one waits for it."""
    frontends = Frontends(workplace / "frontends")
    yield frontends
    frontends.close()


@pytest.fixture(scope="session", autouse=True)
def frontends_ahead(request):
    """They start beside the tests that need none."""
    if any("frontends" in item.fixturenames for item in request.session.items):
        request.getfixturevalue("frontends")


@pytest.fixture
def gateway(stack):
    return stack.gateway


@pytest.fixture
def make_stack(workplace, request):
    """Stacks of a test's own."""
    made = []

    def make(*sim_options, **options) -> Stack:
        folder = workplace / f"{request.node.name[:40].replace('/', '_')}-{next(numbers)}"
        made.append(Stack(folder, *sim_options, **options))
        return made[-1]

    yield make
    for stack in made:
        for program in (stack.gateway.program, stack.sim.program):
            program.kill()
        stack.gateway.http.close()


@pytest.fixture
def forward():
    """Forwarders to a gateway, for agents that are to reach nothing else."""
    made = []

    def make(gateway) -> Forwarder:
        made.append(Forwarder(*gateway.program.host_port))
        return made[-1]

    yield make
    for each in made:
        each.close()
