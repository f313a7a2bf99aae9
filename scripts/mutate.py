#!/usr/bin/env python3
"""Takes each rule of tests/mutations/rules.toml and cassettes.toml out of the source, builds, and looks whether the tests named there notice.

    scripts/mutate.py [--only WORDS] [--jobs N]

Works on a copy of what git tracks, in build/mutate/tree: the sources themselves are never touched. Prints a line per rule; exits 1 where a rule could be
taken out without the cases failing that name it. Standard library only.
"""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "tests/mutations/rules.toml"
CASSETTE_RULES = ROOT / "tests/mutations/cassettes.toml"
TREE = ROOT / "build/mutate/tree"
TEST = "Kinds/EveryProof.a_fault_is_named_or_the_answer_is_what_was_sampled/"
# What only a rule needed is no error without it.
QUIET = "".join(f'#pragma GCC diagnostic ignored "-Wunused-{what}"\n' for what in ("function", "variable", "parameter", "const-variable"))
# A rule that bounds a wait is missed by a test that never ends.
SECONDS = 300


@dataclass(frozen=True)
class Mutation:
    rule: str
    file: str
    old: str
    new: str
    fails: dict[str, tuple[str, ...]] = field(default_factory=dict)  # "kind/mode" -> faults
    noticed: dict[str, tuple[str, ...]] = field(default_factory=dict)  # suite -> words of what fails in it

    @property
    def targets(self) -> set[str]:
        return {target for suite in self.noticed for target in SUITES[suite].targets} | ({"api_test"} if self.fails else set())

    @property
    def cases(self) -> int:
        return sum(map(len, [*self.fails.values(), *self.noticed.values()]))

    def apply(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise ValueError(f"{self.rule}: its lines stand {text.count(self.old)} times in {self.file}, expected once")
        if self.old == self.new:
            raise ValueError(f"{self.rule}: changes nothing")
        return QUIET + text.replace(self.old, self.new)


@dataclass(frozen=True)
class Suite:
    """Tests outside of the table of proofs. `failed` tells what failed, line by line, or nothing."""

    targets: tuple[str, ...]
    failed: Callable[[], str]


@dataclass
class Outcome:
    mutation: Mutation
    missed: list[str] = field(default_factory=list)
    seconds: float = 0


def load(path: Path = RULES) -> list[Mutation]:
    mutations = []
    rules = tomllib.loads(path.read_text())
    for entry in rules["mutation"]:
        fails = {}
        for row in entry["fails"]:
            named, _, faults = row.partition(": ")
            for way in rules["groups"].get(named, [named]):
                fails[way] = tuple(faults.split())
        mutations.append(Mutation(entry["rule"], entry["file"], entry["old"], entry["new"], fails, {}))
    return mutations


def load_cassettes(path: Path = CASSETTE_RULES) -> list[Mutation]:
    return [Mutation(entry["rule"], entry["file"], entry["old"], entry["new"], {}, {suite: tuple(words) for suite, words in entry["noticed"].items()})
            for entry in tomllib.loads(path.read_text())["mutation"]]


def copy_tree() -> None:
    """What git knows, and nothing that changes otherwise: unchanged files keep their times, so that little is built again."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                            stdout=subprocess.PIPE).stdout.decode().split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    for top in ("src", "tests"):
        for path in (TREE / top).rglob("*"):
            if path.is_file() and str(path.relative_to(TREE)) not in wanted:
                path.unlink()


def build(jobs: int, targets: set[str]) -> str:
    """The errors of the compiler, or ""."""
    if not (TREE / "build/release/build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", "build/release", "-j", str(jobs), *sorted(targets)], cwd=TREE, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout[-3000:] + done.stderr[-1000:]


def failed_faults(way: str) -> tuple[int, str]:
    """Exit code of the test of one kind and mode (negative: a signal) and what it printed."""
    name = TEST + way.replace("/", "_").replace("-", "_")
    try:
        done = subprocess.run([TREE / "build/release/src/api/api_test", f"--gtest_filter={name}"], cwd=TREE, capture_output=True, text=True,
                              errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired as late:
        return -1, (late.stdout or b"").decode(errors="replace")
    if "[==========] Running 1 test" not in done.stdout:
        raise SystemExit(f"no test is named {name}")
    return done.returncode, done.stdout


def output_of(command: list, **environment: str) -> tuple[int, str]:
    try:
        done = subprocess.run(list(map(str, command)), cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return -1, (late.stdout or b"").decode(errors="replace")


def failed_units() -> str:
    # Brief: nothing is said of what passed.
    code, output = output_of([TREE / "build/release/src/cassette/cassette_test", "--gtest_brief=1"])
    return output if code != 0 else ""


def failed_replays() -> str:
    """Tests are those of the sources as they are, the binary that of the tree."""
    code, output = output_of([ROOT / ".venv/bin/python", "-m", "pytest", "-q", "--tb=no", "tests/e2e/test_cassettes.py", "tests/e2e/test_replay.py"],
                             VERBATIM_BINARY=str(TREE / "build/release/verbatim"))
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return ("\n".join(failed) or output) if code != 0 else ""


SUITES = {"units": Suite(("cassette_test",), failed_units), "replays": Suite(("verbatim",), failed_replays)}


def missed_by(mutation: Mutation) -> list[str]:
    missed = []
    for suite, words in mutation.noticed.items():
        failed = SUITES[suite].failed()
        missed += [f"{suite}: {each}" for each in words if each not in failed]
    for way, faults in mutation.fails.items():
        code, output = failed_faults(way)
        # What crashes or hangs says no more, but can't be overlooked.
        if code < 0:
            continue
        missed += [f"{way}: {fault}" for fault in faults if f"{fault}, seed" not in output]
    return missed


def run(mutations: list[Mutation], jobs: int) -> list[Outcome]:
    copy_tree()
    if errors := build(jobs, {target for mutation in mutations for target in mutation.targets}):
        raise SystemExit(f"the sources as they are don't build:\n{errors}")
    for way in sorted({way for mutation in mutations for way in mutation.fails}):
        code, output = failed_faults(way)
        if code != 0:
            raise SystemExit(f"{way} fails before any rule is taken out:\n{output[-3000:]}")
    for suite in sorted({suite for mutation in mutations for suite in mutation.noticed}):
        if failed := SUITES[suite].failed():
            raise SystemExit(f"{suite} fail before any rule is taken out:\n{failed[-3000:]}")
    outcomes = []
    for mutation in mutations:
        began = time.monotonic()
        outcome = Outcome(mutation)
        path = TREE / mutation.file
        before = path.read_text()
        path.write_text(mutation.apply(before))
        try:
            errors = build(jobs, mutation.targets)
            outcome.missed = [f"it does not build: {errors}"] if errors else missed_by(mutation)
        finally:
            path.write_text(before)
        outcome.seconds = time.monotonic() - began
        outcomes.append(outcome)
        said = "noticed" if not outcome.missed else "MISSED by " + ", ".join(outcome.missed)
        print(f"{mutation.rule}: {said} ({mutation.cases} cases, {outcome.seconds:.0f} s)", flush=True)
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rules whose name holds these words")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    mutations = [mutation for mutation in load() + load_cassettes() if options.only in mutation.rule]
    if not mutations:
        raise SystemExit(f"no rule is named like {options.only!r}")
    outcomes = run(mutations, options.jobs)
    missed = [outcome for outcome in outcomes if outcome.missed]
    print(f"{len(outcomes)} rules taken out, {len(outcomes) - len(missed)} noticed, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
