"""The demo proves what it shows, and leaves nothing behind."""
import json
import os
import re
import subprocess

from programs import BINARY, ROOT


def run(*arguments, **environment) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


def test_the_demo_proves_four_turns_and_cleans_up(tmp_path):
    shown = run("demo", TMPDIR=str(tmp_path))
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "4 turns proved, 0 failed" in shown.stdout
    for mark in ("[template]", "[tools]", "[system]", "[user]", "[tool]", "[sampled]"):
        assert mark in shown.stdout
    assert "\x1b" not in shown.stdout, "colours without a terminal"
    # The folder is as long as it is.
    assert max(len(line) for line in shown.stdout.splitlines() if str(tmp_path) not in line) <= 100
    assert list(tmp_path.iterdir()) == [], "the demo leaves files behind"


def test_colours_can_be_forced_and_say_the_same(tmp_path):
    plain = run("demo", "--color", "never", TMPDIR=str(tmp_path)).stdout
    coloured = run("demo", "--color", "always", TMPDIR=str(tmp_path)).stdout
    assert "\x1b[1;35m" in coloured and "[sampled]" not in coloured
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    for line in ("It rains in Paris, 9 degrees.", "rendered anew", "4 turns proved"):
        assert line in bare and line in plain


def test_a_kept_record_can_be_audited_and_a_spoiled_one_fails(tmp_path):
    kept = tmp_path / "kept"
    assert run("demo", "--keep", kept).returncode == 0
    record, = (kept / "records").glob("*.jsonl")
    assert run("audit", "--record-dir", kept / "records").returncode == 0
    assert len(run("export", "--record-dir", kept / "records").stdout.splitlines()) == 1
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    lines[2]["prompt_token_ids"][100] += 1
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    spoiled = run("audit", "--record-dir", kept / "records")
    assert spoiled.returncode == 1
    assert "turn 3" in spoiled.stdout and "FAILED" in spoiled.stdout and "at id 100" in spoiled.stdout


def test_every_command_explains_itself_with_an_example():
    for command in ("serve", "sim", "encode", "decode", "render", "parse", "export", "audit", "demo"):
        answer = run(command, "--help")
        assert answer.returncode == 0 and "Example: " in answer.stdout, command


def test_options_that_cannot_be_are_2_and_say_the_remedy(tmp_path):
    for arguments, said in ((["sim"], "--tokenizer"), (["serve", "--engine", "ftp://x", "--tokenizer", "models"], "--engine"),
                            (["sim", "--tokenizer", tmp_path / "none"], "none"), (["sim", "--tokenizer", "models/qwen3", "--fault", "rain=3"], "rain"),
                            (["demo", "--color", "loud"], "--color"), (["fly"], "fly")):
        answer = run(*arguments)
        assert answer.returncode == 2, (arguments, answer)
        assert said in answer.stderr, (arguments, answer.stderr)
