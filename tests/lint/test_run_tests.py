"""scripts/run-tests.sh: order, counting, what happens at a failure. Run with a table of its own in a directory of its own."""
import re
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "run-tests.sh"
STEPS = """
  "first    lint,fast   echo one"
  "second   fast        touch second.ran"
  "breaks   fast        helper_that_breaks"
  "last     lint        touch last.ran"
"""


@pytest.fixture
def run(tmp_path):
    text, count = re.subn(r"(?<=\nsteps=\()\n.*?\n(?=\))", lambda _: STEPS, SCRIPT.read_text(), flags=re.S)
    assert count == 1
    # A step that fails in its middle: what stands behind it must not hide that.
    text = text.replace("\nusage() {", "\nhelper_that_breaks() {\n  false\n  echo still here\n}\n\nusage() {", 1)
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "run-tests.sh"
    script.write_text(text)

    def call(*args):
        return subprocess.run(["bash", str(script), *args], capture_output=True, text=True, cwd=tmp_path, check=False)

    call.dir = tmp_path
    return call


def test_the_first_failure_stops_the_run_and_is_named(run):
    done = run()
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "2 passed, 1 failed"
    assert 'step "breaks" failed; 1 steps behind it did not run' in done.stdout
    assert "still here" not in done.stdout
    assert (run.dir / "second.ran").exists() and not (run.dir / "last.ran").exists()


def test_a_set_runs_its_steps_in_order_and_counts_them(run):
    done = run("lint")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "2 passed, 0 failed")
    assert re.search(r"first +\d+\.\d s  passed\n +last +\d+\.\d s  passed", done.stdout)


def test_steps_can_be_run_by_name(run):
    assert run("second").stdout.splitlines()[-1] == "1 passed, 0 failed"


def test_an_unknown_step_is_an_error_and_not_an_empty_success(run):
    done = run("third")
    assert done.returncode == 2 and "first second breaks last" in done.stderr
