"""Conversations outlive the process that served them: after a restart, after kill -9 under load, and beside damaged files."""
import json
import os
import random
import sqlite3
import subprocess
import threading

import httpx
import pytest

from dialogue import Dialogue, user
from programs import BINARY, MODEL, Gateway, Simulator, until
from records import check_logprobs, check_prefix, check_segments, turns

KILLS = int(os.environ.get("VERBATIM_KILLS", "20"))
AGENTS = 6
# Conversations begin anew behind so many kills: a view of one costs its length twice over.
KILLS_OF_A_CONVERSATION = 20


class Place:
    """A folder with a simulator, and gateways that follow each other on one store."""

    def __init__(self, folder, *options):
        folder.mkdir(parents=True)
        self.folder = folder
        self.sim = Simulator(folder, "--behaviour", "fixed-text", "--text", "Hello there, how are you?")
        self.options = options
        self.gateway = Gateway(folder, self.sim.url, *options)

    @property
    def file(self):
        return self.folder / "data/store.db"

    def end(self):
        self.gateway.close()

    def kill(self):
        self.gateway.http.close()
        self.gateway.program.kill()

    def begin(self):
        self.gateway = Gateway(self.folder, self.sim.url, *self.options)

    def refused(self) -> str:
        done = subprocess.run([BINARY, "serve", "--engine", self.sim.url, "--engine-kind", "sglang", "--tokenizer", MODEL, "--data-dir",
                               self.file.parent, "--port", "0"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2, f"exit {done.returncode}: {done.stderr}"
        return done.stderr


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path / "place")
    yield place
    for program in (place.gateway.program, place.sim.program):
        program.kill()


def test_a_conversation_goes_on_after_a_restart(place):
    dialogue = Dialogue(place.gateway)
    dialogue.say("Good morning.")
    dialogue.say("How are you?")
    before = place.gateway.http.get(f"/sessions/{dialogue.session}").content
    place.end()
    place.begin()
    dialogue.gateway = place.gateway
    assert place.gateway.http.get(f"/sessions/{dialogue.session}").content == before
    dialogue.say("And now?")
    lines = turns(dialogue.lines())
    assert len(lines) == 3 and lines[2]["parent_turn"] == lines[1]["turn"], "the turn behind the restart does not go on"
    check_prefix(lines)
    check_segments(lines)
    check_logprobs(lines)
    assert place.gateway.http.delete(f"/sessions/{dialogue.session}").status_code == 204
    place.end()
    place.begin()
    assert place.gateway.http.get(f"/sessions/{dialogue.session}").status_code == 404, "a deleted session came back"


def test_conversations_are_for_their_owner_alone(place):
    Dialogue(place.gateway).say("Good morning.")
    kept = [*place.file.parent.iterdir(), *place.gateway.records.iterdir()]
    assert {path.name for path in kept} >= {"store.db", "store.db-wal", "store.db-shm", "store.db.lock"} and len(kept) > 4
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in [*kept, place.file.parent, place.gateway.records]}
    assert modes == {name: "0o700" if name in ("data", "records") else "0o600" for name in modes}


def test_stateless_chat_goes_on_after_a_restart(place):
    messages = [user("Good morning.")]
    first = place.gateway.chat(None, {"messages": messages}).json()
    place.end()
    place.begin()
    messages += [first["choices"][0]["message"], user("And now?")]
    assert place.gateway.chat(None, {"messages": messages}).status_code == 200
    [path] = place.gateway.records.glob("*.jsonl")
    lines = turns(place.gateway.record(path.stem))
    assert len(lines) == 2 and lines[1]["parent_turn"] == lines[0]["turn"]


class Agent(threading.Thread):
    """Holds one conversation until its gateway dies; keeps what was answered."""

    def __init__(self, gateway: Gateway, known: dict):
        super().__init__()
        self.gateway, self.known = gateway, known

    def run(self):
        with httpx.Client(base_url=self.gateway.url, timeout=30) as http:
            try:
                if "session" not in self.known:
                    self.known["session"] = http.post("/sessions").json()["session_id"]
                while True:
                    self.turn(http)
            except httpx.HTTPError:
                return

    def turn(self, http: httpx.Client):
        known = self.known
        messages = known.setdefault("messages", [])
        asked = user(f"Question {len(messages)}")
        answer = http.post(f"/sessions/{known['session']}/v1/chat/completions", json={"messages": [*messages, asked]})
        known["statuses"] = known.get("statuses", set()) | {answer.status_code}
        if answer.status_code != 200:
            return
        body = answer.json()
        known["messages"] = [*messages, asked, body["choices"][0]["message"]]
        known.setdefault("answered", []).append((body["id"], body["choices"][0]["message"]["content"]))


def answered_by(conversations: list[dict]) -> int:
    return sum(len(known.get("answered", [])) for known in conversations)


def check_kept(gateway: Gateway, known: dict):
    view = gateway.http.get(f"/sessions/{known['session']}")
    assert view.status_code == 200, f"session {known['session']} is lost: {view.text}"
    view = view.json()
    nodes = {node["response_id"]: node for node in view["metadata"]["tree"]["nodes"]}
    lost = [identifier for identifier, _ in known.get("answered", []) if identifier not in nodes]
    assert not lost, f"answered turns are lost: {lost}"
    spans = [node["completion_span"] for node in nodes.values()]
    assert all(begin < end for begin, end in spans), f"a turn is there in part: {spans}"
    ids = {node["id"] for node in nodes.values()}
    assert all(node["parent"] in ids for node in nodes.values() if node["parent"]), "a turn without its parent"
    for record in view["records"]:
        choice = record["response"]["choices"][0]
        entries = choice["meta_info"]["output_token_logprobs"]
        assert entries and len(entries) == choice["meta_info"]["completion_tokens"]
    texts = {record["response"]["id"]: record["response"]["choices"][0]["message"]["content"] for record in view["records"]}
    for identifier, text in known.get("answered", []):
        assert texts.get(identifier, text) == text


def check_records(gateway: Gateway, known: dict):
    """The record file of a session is what the store holds: whole lines, each turn once, behind its parent."""
    nodes = gateway.http.get(f"/sessions/{known['session']}/tree").json()["nodes"]
    lines = turns(gateway.record(known["session"]))
    assert sorted(line["turn"] for line in lines) == sorted(node["id"] for node in nodes)
    check_prefix(lines)
    check_segments(lines)
    check_logprobs(lines)


def kill_under_load(place, chance: random.Random, conversations: list[dict]):
    agents = [Agent(place.gateway, known) for known in conversations]
    for agent in agents:
        agent.start()
    # Somewhere within the turns under way, however slow the machine is.
    before = answered_by(conversations)
    until(lambda: answered_by(conversations) > before, "a turn is answered", seconds=30)
    agents[0].join(chance.uniform(0, 0.2))
    place.kill()
    for agent in agents:
        agent.join(30)
    place.begin()
    for known in conversations:
        if "session" in known:
            check_kept(place.gateway, known)
            check_records(place.gateway, known)


def check_goes_on(gateway: Gateway, known: dict):
    assert known.get("statuses", {200}) <= {200, 503}, known["statuses"]
    gateway.chat(known["session"], {"messages": [*known["messages"], user("Still there?")]}).raise_for_status()
    node = gateway.http.get(f"/sessions/{known['session']}").json()["metadata"]["tree"]["nodes"][-1]
    assert node["parent"], "the conversation does not go on behind the kills"


def test_what_was_answered_survives_a_kill_under_load(place):
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    answered = 0
    for done in range(0, KILLS, KILLS_OF_A_CONVERSATION):
        conversations: list[dict] = [{} for _ in range(AGENTS)]
        for _ in range(min(KILLS_OF_A_CONVERSATION, KILLS - done)):
            kill_under_load(place, chance, conversations)
        answered += answered_by(conversations)
        for known in conversations:
            check_goes_on(place.gateway, known)
        print(f"seed {seed}: {min(done + KILLS_OF_A_CONVERSATION, KILLS)} kills, {answered} answered turns", flush=True)
    assert answered >= KILLS
    place.end()


def test_a_store_in_use_is_refused(place):
    said = place.refused()
    assert "in use by another process" in said and str(place.file) in said, said


@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_a_store_in_use_is_refused_by_its_other_names_too(place, tmp_path, link):
    Dialogue(place.gateway).say("Good morning.")
    other = tmp_path / "other.db"
    other.symlink_to(place.file) if link == "symbolic" else other.hardlink_to(place.file)
    said = subprocess.run([BINARY, "store", "check", "--store", f"sqlite:{other}"], capture_output=True, text=True, timeout=60)
    assert said.returncode != 0 and "in use by another process" in said.stderr, said.stderr


@pytest.mark.parametrize("damage, expected", [
    ("another program's", "another program"), ("newer", "schema version 99"), ("no database", "not a database"), ("torn", "damaged")])
def test_a_file_that_is_no_store_is_refused(place, damage, expected):
    Dialogue(place.gateway).say("Good morning.")
    place.end()
    if damage == "no database":
        place.file.write_bytes(b"hello" * 1000)
    elif damage == "torn":
        place.file.write_bytes(place.file.read_bytes()[:6000])
    else:
        with sqlite3.connect(place.file) as changed:
            changed.execute("PRAGMA application_id = 7" if damage == "another program's" else "PRAGMA user_version = 99")
    said = place.refused()
    assert expected in said, said
    checked = tool(place, "check")
    assert checked.returncode == 1 and "store check" not in checked.stderr, checked.stderr
    if expected in ("not a database", "damaged"):
        assert f"verbatim store check --store sqlite:{place.file} says where" in said, said
        assert checked.stdout or "restore a copy" in checked.stderr, "neither problems nor a remedy"


def tool(place, *what, file=None, **options) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, "store", *what, "--store", f"sqlite:{file or place.file}"], capture_output=True, text=True, timeout=60, **options)


def test_a_store_is_looked_after(place):
    dialogues = [Dialogue(place.gateway) for _ in range(3)]
    for dialogue in dialogues:
        for number in range(3):
            dialogue.say(f"Question {number}: " + "and so on " * 400)
    assert "in use by another process" in tool(place, "check").stderr
    for dialogue in dialogues[1:]:
        assert place.gateway.http.delete(f"/sessions/{dialogue.session}").status_code == 204
    place.end()
    checked = tool(place, "check")
    assert checked.returncode == 0 and "1 sessions, 3 turns" in checked.stdout and "0 problems" in checked.stdout, checked
    assert tool(place, "migrate").returncode == 0
    before = place.file.stat().st_size
    compacted = tool(place, "compact")
    assert compacted.returncode == 0, compacted.stderr
    assert place.file.stat().st_size < before
    assert tool(place, "check").returncode == 0
    with sqlite3.connect(place.file) as changed:
        changed.execute("UPDATE body SET bytes = x'0102'")
    checked = tool(place, "check")
    assert checked.returncode == 1 and "can't be read" in checked.stdout, checked
    place.file.unlink()
    assert "there is no store" in tool(place, "check").stderr


def test_a_store_is_exported_and_imported_and_goes_on(place, tmp_path):
    dialogue = Dialogue(place.gateway)
    dialogue.say("Good morning.")
    dialogue.say("How are you?")
    before = place.gateway.http.get(f"/sessions/{dialogue.session}").content
    written = tmp_path / "all.jsonl"
    assert "in use by another process" in tool(place, "export", written).stderr and not written.exists()
    place.end()
    done = tool(place, "export", written)
    assert done.returncode == 0 and "2 turns exported" in done.stderr, done.stderr
    assert oct(written.stat().st_mode & 0o777) == "0o600"
    assert "is there already" in tool(place, "export", written).stderr
    assert tool(place, "export", "-").stdout == written.read_text()
    moved = tmp_path / "new/moved.db"
    assert tool(place, "import", written, file=moved).stdout.endswith("1 sessions, 2 turns imported\n")
    assert tool(place, "export", "-", file=moved).stdout == written.read_text()
    again = tool(place, "import", "-", file=moved, input=written.read_text())
    assert "0 sessions, 0 turns imported; 1 were there already" in again.stdout, again
    assert "0 problems" in tool(place, "check", file=moved).stdout
    # On another machine the conversation goes on, by its handles and its history.
    moved.replace(place.file)
    place.begin()
    dialogue.gateway = place.gateway
    assert place.gateway.http.get(f"/sessions/{dialogue.session}").content == before
    dialogue.say("And now?")
    assert turns(dialogue.lines())[2]["parent_turn"]


def test_an_import_that_is_refused_leaves_nothing_behind(place, tmp_path):
    Dialogue(place.gateway).say("Good morning.")
    place.end()
    lines = tool(place, "export", "-").stdout.splitlines(keepends=True)
    new = tmp_path / "new.db"
    for text, expected in (("".join(lines[:-1]), f"line {len(lines)}: missing"), ("".join([*lines[:2], lines[2].replace("a", "b", 1), *lines[3:]]), "line 3: "),
                           (lines[0].replace("store.v3", "store.v9"), "line 1: found verbatim.store.v9"), ("{}\n", "line 1: not an export")):
        done = tool(place, "import", "-", file=new, input=text)
        assert done.returncode == 1 and expected in done.stderr and "was not imported" in done.stderr, done
        assert not new.exists()


def test_record_files_are_mended_at_start(place):
    dialogues = [Dialogue(place.gateway) for _ in range(4)]
    for dialogue in dialogues:
        for number in range(3):
            dialogue.say(f"Question {number}")
    assert place.gateway.http.delete(f"/sessions/{dialogues[3].session}").status_code == 204
    paths = [place.gateway.records / f"{dialogue.session}.jsonl" for dialogue in dialogues]
    whole = [path.read_bytes() for path in paths]
    place.kill()
    # As kills and full disks leave them.
    paths[0].write_bytes(whole[0][:-100])
    paths[1].unlink()
    lines = whole[2].splitlines(keepends=True)
    paths[2].write_bytes(lines[0] + lines[2])
    # The session was deleted; its end was not written yet.
    assert b'"reason":"deleted"' in whole[3].splitlines()[3]
    paths[3].write_bytes(b"".join(whole[3].splitlines(keepends=True)[:3]))
    (place.gateway.records / "another.jsonl").write_text("not ours")
    place.begin()
    assert [path.read_bytes() for path in paths[:3]] == whole[:3]
    # The end has the time of the deletion, not of its line.
    ends = [json.loads(text.splitlines()[3]) for text in (paths[3].read_bytes(), whole[3])]
    assert abs(ends[0].pop("ts") - ends[1].pop("ts")) < 1 and ends[0] == ends[1]
    assert (place.gateway.records / "another.jsonl").read_text() == "not ours"
    said = place.gateway.program.errors()
    assert "2 files of sessions that the store does not hold" in said and "6 lines written, 1 file made, 2 files cut, 1 file ended" in said, said
    place.end()
    # Behind an end in good order nothing is looked at.
    paths[1].unlink()
    place.begin()
    assert not paths[1].exists()


def test_sessions_expire_and_an_owner_has_as_many_as_it_may_have(tmp_path):
    place = Place(tmp_path / "place", "--session-ttl", 2, "--max-sessions", 3)
    try:
        http = place.gateway.http
        made = [http.post("/sessions") for _ in range(5)]
        assert [answer.status_code for answer in made] == [200, 200, 200, 400, 400]
        assert made[3].json()["error"]["code"] == "session_quota", made[3].text
        sessions = [answer.json()["session_id"] for answer in made[:3]]
        place.gateway.chat(sessions[0], {"messages": [user("Hello")]}).raise_for_status()
        until(lambda: all(http.get(f"/sessions/{session}").status_code == 404 for session in sessions), "the sessions expire", seconds=30)
        until(lambda: '"reason":"expired"' in (place.gateway.records / f"{sessions[0]}.jsonl").read_text(), "the record file ends")
        assert http.post("/sessions").status_code == 200
    finally:
        for program in (place.gateway.program, place.sim.program):
            program.kill()
