"""The guides to engines: their commands as they stand, and what they say that is printed."""
import json
import subprocess

import pytest

from guides import BETWEEN, GUIDES, free_port, prints, run, steps
from programs import MODEL, Program
from upstream import ENVIRONMENTS, python_of, recorder

UPSTREAM = {guide.stem.removesuffix("-upstream"): guide for guide in GUIDES if guide.stem.endswith("-upstream")}


def check(guide, folder, ports: dict[str, str], release: str) -> None:
    """Each command prints what stands behind it."""
    told = steps(guide)
    done = run([step.command for step in told], folder, ports)
    assert done.returncode == 0, done.stdout + done.stderr
    printed = done.stdout.split(BETWEEN)
    assert len(printed) == len(told)
    for step, found in zip(told, printed):
        expected = step.expected(release)
        assert expected is not None, f"nothing is said of what this prints:\n{step.command}"
        assert prints(found, expected), f"{step.command}\nprinted\n{found}\nexpected\n{expected}"


@pytest.mark.parametrize("release", ENVIRONMENTS)
def test_the_commands_of_the_guide_to_dynamo_print_what_it_says(frontends, tmp_path, release):
    check(UPSTREAM["dynamo"], tmp_path, {"8000": str(frontends(release).port), "8080": free_port()}, release)


@pytest.mark.parametrize("release", ENVIRONMENTS)
def test_the_defaults_of_dynamo_are_those_the_guide_names(release):
    shown = subprocess.run([python_of(release), "-m", "dynamo.frontend", "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    for default in ("DYN_HTTP_PORT | default: 8000", "DYN_ROUTER_MODE | default: round-robin", "DYN_DISCOVERY_BACKEND | default: etcd"):
        assert default in shown
    listed = "import dynamo._core as core; print(*core.get_tool_parser_names(), *core.get_reasoning_parser_names())"
    names = subprocess.run([python_of(release), "-c", listed], capture_output=True, text=True, check=True, timeout=60).stdout
    assert {"harmony", "gpt_oss"} <= set(names.split())


# By token ids, in the words of Qwen3; the word is known only behind the turn in which it was told.
TOLD = f"{recorder.REMEMBER}<|im_end|>\n<|im_start|>assistant\n{recorder.KEPT}<|im_end|>\n<|im_start|>user\n{recorder.WHICH}<|im_end|>\n"
STEPS = [{"when": {"tail": TOLD}, "text": recorder.WORD, "repeat": True}, {"when": {"tail": recorder.WHICH}, "text": recorder.FORGOTTEN, "repeat": True},
         {"text": recorder.KEPT, "repeat": True}]


@pytest.mark.parametrize("engine,port", [("vllm", "8000"), ("sglang", "30000")])
def test_the_commands_of_the_other_guides_print_what_they_say(tmp_path, engine, port):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/qwen3").symlink_to(MODEL)
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": STEPS}))
    server = Program(["sim", "--face", engine, "--tokenizer", MODEL, "--model-name", "qwen3", "--script", script, "--port", 0], tmp_path / "sim.stderr")
    try:
        check(UPSTREAM[engine], tmp_path, {port: str(server.host_port[1]), "8080": free_port()}, "")
    finally:
        server.kill()
