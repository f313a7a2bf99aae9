"""Many turns through the real process, by agents that cost little (tests/load): its memory stays flat, and so does what it holds open.

`make test` runs short forms, whose small caches fill within seconds. `make test-full` (VERBATIM_SOAK_TURNS, in the mean 50 a session) runs the
one of a deployment as it is: the default cache, the real vocabulary, bytes on disk told."""
import json
import os
import re
import statistics
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from programs import BINARY, MODEL, ROOT, Program, until

SOAK_TURNS = int(os.environ.get("VERBATIM_SOAK_TURNS", "0"))
LOAD = BINARY.parent / "tests/load"
TOY = ROOT / "tests/cases/toy"
SAMPLES = 400
ANSWER = "It is warmer in Rome than in Paris today, and it stays so for the week: no rain, little wind, and 24 degrees near noon at most. "


class Process:
    """What the kernel says of a process."""

    def __init__(self, pid: int):
        self.folder = Path(f"/proc/{pid}")

    def resident(self) -> int:
        return int(re.search(r"^VmRSS:\s+(\d+) kB", (self.folder / "status").read_text(), re.M).group(1)) * 1024

    def open_files(self) -> int:
        return len(list((self.folder / "fd").iterdir()))


class Place:
    """A simulator and a gateway on a store of their own, without record files: their lines hold whole prompts."""

    def __init__(self, folder: Path, model: Path, *options):
        self.folder = folder
        template = ["--chat-template", model / "chatml.jinja"] if model == TOY else []
        self.sim = Program(["sim", "--tokenizer", model, "--port", 0, "--incremental", "--ids-per-event", 64, "--text", ANSWER, "--max-model-len", 1000000],
                           folder / "sim.stderr")
        try:
            self.gateway = Program(["serve", "--engine", self.sim.url, "--engine-kind", "sglang", "--tokenizer", model, *template, "--data-dir", folder / "data",
                                    "--max-model-len", 1000000, "--port", 0, *options], folder / "serve.stderr")
        except BaseException:
            self.sim.kill()
            raise
        until(lambda: httpx.get(self.gateway.url + "/ready").status_code == 200, "the gateway is ready")
        self.process = Process(self.gateway.process.pid)

    def agents(self, turns: int, *options):
        """Runs agents, and yields their reports as they come; the last is done."""
        command = [LOAD, "--url", self.gateway.url, "--watch", self.gateway.process.pid, "--every", max(1, turns // SAMPLES), "--max-tokens", 64, "--check", *options]
        with open(self.folder / "load.stderr", "ab") as err, subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=err, text=True) as agents:
            try:
                yield from map(json.loads, agents.stdout)
            finally:
                if agents.poll() is None:
                    agents.kill()
        assert agents.returncode == 0, (self.folder / "load.stderr").read_text()

    def metric(self, name: str) -> float:
        text = httpx.get(self.gateway.url + "/metrics").text
        return sum(map(float, re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.M)))

    def disk(self) -> int:
        return sum(path.stat().st_size for path in (self.folder / "data").glob("store.db*") if not path.name.endswith(("-reserve", "-shm", ".lock")))


@pytest.fixture
def make_place(tmp_path):
    made = []

    def make(*options, model=TOY) -> Place:
        made.append(Place(tmp_path, model, *options))
        return made[-1]

    yield make
    for place in made:
        place.gateway.kill()
        place.sim.kill()


def soak(place: Place, turns: int, *options) -> tuple[list[dict], dict]:
    """The samples, each with what the process held then, and the last report."""
    samples, told = [], time.monotonic()
    for report in place.agents(turns, *options):
        if report["done"]:
            return samples, report
        samples.append(report | {"resident": place.process.resident(), "files": place.process.open_files()})
        if time.monotonic() - told > 10:
            told = time.monotonic()
            print(f"{report['answered']} turns, {report['ended']} sessions, {report['seconds']:.0f} s, {report['cpu'] / report['answered'] * 1e6:.0f} µs of CPU a turn, "
                  f"{samples[-1]['resident'] / 1e6:.1f} MB resident, {samples[-1]['files']} open files", flush=True)
    raise AssertionError("the agents gave no result")


def check_flat(samples: list[dict], share: float):
    """In the last quarter of the turns memory stays within `share` of its median, and nothing more is open than in the quarter before."""
    quarter = len(samples) // 4
    last = [sample["resident"] for sample in samples[-quarter:]]
    middle = statistics.median(last)
    print(f"last quarter: {min(last) / 1e6:.2f} to {max(last) / 1e6:.2f} MB resident, {(max(last) - min(last)) / middle * 100:.2f} % apart; "
          f"at a quarter of the way {samples[quarter]['resident'] / 1e6:.2f} MB")
    assert middle * (1 - share) <= min(last) and max(last) <= middle * (1 + share), \
        f"resident memory is not flat, MB at each twentieth: {[round(sample['resident'] / 1e6, 1) for sample in samples[::max(1, len(samples) // 20)]]}"
    files = [max(sample["files"] for sample in part) for part in (samples[-2 * quarter:-quarter], samples[-quarter:])]
    assert files[1] <= files[0] + 8, f"open files grow: {files}"


def check_store(place: Place, sessions: int, turns: int):
    assert place.gateway.stop() == 0, place.gateway.errors()
    checked = subprocess.run([BINARY, "store", "check", "--store", f"sqlite:{place.folder / 'data/store.db'}"], capture_output=True, text=True, timeout=1200)
    assert checked.returncode == 0 and f"{sessions} sessions, {turns} turns" in checked.stdout, checked


def test_memory_is_flat_while_sessions_come_and_go(make_place):
    """What a session leaves behind would be seen: 2 % of this process are some 100 bytes for each of a quarter's sessions."""
    place = make_place("--threads", 2)
    turns = 12000
    samples, done = soak(place, turns, "--sessions", turns // 4, "--turns", 4, "--open", 64, "--connections", 32, "--delete")
    assert done["answered"] == turns
    check_flat(samples, 0.02)
    check_store(place, 0, 0)


def test_memory_is_flat_while_sessions_stay_on_disk(make_place):
    """The cache is full after a tenth of them; each session is gone on with when it has long left the cache."""
    place = make_place("--threads", 2, "--store-memory", 4)
    samples, done = soak(place, 8000, "--sessions", 1000, "--turns", 8, "--uneven", "--open", 32, "--connections", 16, "--revisit", 200)
    check_flat(samples, 0.02)
    check_store(place, 1000, done["answered"])


@pytest.mark.skipif(SOAK_TURNS == 0, reason="by make test-full: VERBATIM_SOAK_TURNS")
def test_a_long_soak(make_place):
    place = make_place(model=MODEL)
    sessions = max(1, SOAK_TURNS // 50)
    samples, done = soak(place, SOAK_TURNS, "--sessions", sessions, "--turns", 50, "--uneven", "--open", 256, "--connections", 64, "--revisit", 2000)
    batch = place.metric("verbatim_store_batch_changes_sum") / place.metric("verbatim_store_batch_changes_count")
    disk = place.disk()
    print(f"{done['answered']} turns over {done['ended']} sessions in {done['seconds']:.0f} s, {done['cpu'] / done['answered'] * 1e6:.0f} µs of CPU a turn, {batch:.1f} changes in a batch")
    print(f"on disk: {disk / done['answered']:.0f} bytes a turn, {disk / done['tokens']:.1f} a token, {(disk - done['text_bytes']) / done['tokens']:.1f} a token less what was said")
    check_flat(samples, 0.02)
    assert disk - done["text_bytes"] <= 20 * done["tokens"], "over 20 bytes a token, beside what was said"
    check_store(place, sessions, done["answered"])
