"""`verbatim cassette`, and the recordings of tests/cassettes as files. What is replayed of them to a gateway: test_dynamo_upstream.py."""
import itertools
import re

import httpx
import pytest

from cassettes import CASSETTES, KINDS, RELEASES, SCENARIOS, Cassette, Replay, recorded, said, verbatim
from programs import Program

numbers = itertools.count()


@pytest.mark.parametrize("folder", RELEASES)
def test_the_recordings_say_what_they_are_recordings_of(folder):
    texts = {"stateful": ["OK", "APPLE"], "tool-call-auto": ["", "NVDA trades at 181.25 dollars."]}
    thoughts = {"stateful": [[], []], "tool-call-auto": [["The tool knows."], ["The tool has answered."]]}
    for scenario in SCENARIOS:
        for kind in KINDS:
            cassette = Cassette(recorded(folder, scenario, kind))
            assert cassette.provider["name"] == "dynamo" and cassette.provider["version"] == RELEASES[folder]
            assert cassette.provider["model"] == cassette.model and re.fullmatch(r"\d{4}-\d\d-\d\d", str(cassette.provider["recorded"]))
            assert cassette.provider["transport"] == ("http-sse" if kind == "streaming" else "http-json")
            assert cassette.streams == (kind == "streaming")
            turns = [said(turn.response) for turn in cassette.turns]
            assert [turn["text"] for turn in turns] == texts[scenario]
            assert [turn["reasoning"] for turn in turns] == thoughts[scenario]
            assert all(turn["usage"]["input_tokens"] > 0 and turn["usage"]["output_tokens"] > 0 for turn in turns)
    assert said(cassette.turns[0].response)["calls"] == [("get_stock_price", {"symbol": "NVDA"}, "completed")]


def test_every_recording_of_the_tree_is_valid():
    done = verbatim("cassette", "validate", CASSETTES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" 0 problems\n"), done.stdout


BROKEN = {"a path that is none": (r"path: /v1/responses", "path: v1/responses", "path: expected one that begins with /"),
          "no method": (r"\n +method: POST", "", "method is missing"),
          "a status in words": (r"status_code: 200", "status_code: fine", "status_code: expected a number"),
          "an answer without its lines": (r" sse:", " lines:", "a response has either `body` or `sse`, found none"),
          "data that is no JSON": (r"data: \{", "data: [", "data that is no JSON"),
          "no end": (r"(?s)data: \{\"type\":\"response\.completed\".*?\n(.*?)data: \[DONE\]", r"\1: gone", "ends neither with a terminal event")}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_recording_that_was_changed_by_hand_is_told_with_file_and_line(tmp_path, rule):
    pattern, replacement, message = BROKEN[rule]
    path = recorded("dynamo-1.6.1", "stateful", "streaming")
    text = path.read_text()
    broken, count = re.subn(pattern, replacement, text, count=1)
    assert count == 1
    (tmp_path / "below").mkdir()
    (tmp_path / "below/broken.yaml").write_text(broken)
    (tmp_path / "good.yaml").write_text(text)
    done = verbatim("cassette", "validate", tmp_path)
    assert done.returncode == 1
    assert re.search(rf"^{re.escape(str(tmp_path))}/below/broken\.yaml:\d+: .*{re.escape(message)}", done.stdout, re.M), done.stdout
    assert "2 cassettes" in done.stdout


def test_what_was_not_recorded_is_refused_and_told_at_the_end(workplace):
    cassette = recorded("dynamo-1.6.1", "stateful", "nonstreaming")
    turns = Cassette(cassette).turns
    replay = Replay(workplace / f"cassette-{next(numbers)}", cassette)
    with httpx.Client(base_url=replay.url) as client:
        other = client.post("/v1/responses", json={**turns[0].body, "input": "Another word."})
        assert other.status_code == 409 and "body.input[0].content[0].text" in other.json()["error"]["message"]
        first = client.post("/v1/responses", json=turns[0].body)
        assert first.status_code == 200 and first.json() == turns[0].response
        chained = client.post("/v1/responses", json={**turns[1].body, "previous_response_id": "resp_1"})
        assert chained.status_code == 409 and "previous_response_id" in chained.json()["error"]["message"]
    assert replay.program.stop() == 1
    errors = replay.program.errors()
    assert errors.count("unexpected: POST /v1/responses") == 2 and "missing: t2 POST /v1/responses" in errors and "1 of 2 turns" in errors


def test_a_recording_of_a_replay_is_the_recording(workplace):
    """The recorder in front of the replay of a stream: the same bytes, and the same file but for who answered."""
    folder = workplace / f"cassette-{next(numbers)}"
    path = recorded("dynamo-1.6.1", "stateful", "streaming")
    replay = Replay(folder, path)
    again = folder / "again.yaml"
    recorder = Program(["cassette", "record", again, "--engine", replay.url, "--port", 0, "--provider", "name=a replay"], folder / "record.stderr")
    for turn in Cassette(path).turns:
        got = httpx.post(recorder.url + "/v1/responses", json=turn.body, headers={"authorization": "Bearer sk-secret", "cookie": "a=b"})
        assert got.text == "".join(turn.answer["sse"])
    assert recorder.stop() == 0 and replay.program.stop() == 0
    copy = Cassette(again)
    assert copy.provider == {"name": "a replay"} and "sk-secret" not in again.read_text() and "cookie" not in again.read_text()
    assert [(turn.body, turn.answer["sse"]) for turn in copy.turns] == [(turn.body, turn.answer["sse"]) for turn in Cassette(path).turns]
    refused = verbatim("cassette", "record", again, "--engine", replay.url, "--port", 0)
    assert refused.returncode == 2 and "never overwritten" in refused.stderr


def test_bad_options_name_the_remedy(tmp_path):
    (tmp_path / "bad.yaml").write_text("turns:\n- filename: t1\n")
    for arguments, message in {("validate", tmp_path / "absent"): "no such file", ("replay", tmp_path / "bad.yaml"): "bad.yaml:2: request is missing",
                               ("record", tmp_path / "new.yaml", "--engine", "nowhere"): "--engine: ",
                               ("record", tmp_path / "new.yaml", "--engine", "http://127.0.0.1:9", "--provider", "x"): "expected NAME=VALUE"}.items():
        done = verbatim("cassette", *arguments)
        assert done.returncode in (1, 2) and message in done.stderr, done.stderr
