"""Several engines that serve one model behind one gateway."""
import json

import httpx
import pytest

from dialogue import Dialogue, error_of, user
from messages import MessageGateway
from programs import Gateway, Program, Simulator, until
from records import check_record, turns


class Replicas:
    """Simulators, and a gateway in front of them all, by ids or (`by` is a kind and a mode) by messages."""

    def __init__(self, folder, count: int, *serve_options, by: tuple[str, str] | None = None):
        folder.mkdir(parents=True)
        self.exact = by is None
        face = "sglang" if by is None else by[0]
        self.sims, self.gateway = [], None
        try:
            for number in range(count):
                (folder / str(number)).mkdir()
                self.sims.append(Simulator(folder / str(number), "--text", f"I am number {number}.", "--model-name", "qwen3", face=face))
            options = [part for sim in self.sims[1:] for part in ("--engine", sim.url)] + list(serve_options)
            if by is None:
                self.gateway = Gateway(folder, self.sims[0].url, *options)
            else:
                self.gateway = MessageGateway(folder, self.sims[0].url, *options, kind=by[0], mode=by[1])
        except BaseException:
            self.close()
            raise

    def named(self, url: str) -> Simulator:
        return next(sim for sim in self.sims if sim.url == url)

    def check(self, dialogue: Dialogue) -> None:
        """The record of a conversation: by messages, each turn names the replica that said what it holds."""
        if self.exact:
            return check_record(dialogue.lines(), [call for sim in self.sims for call in sim.log()])
        lines, urls = turns(dialogue.lines()), [sim.url for sim in self.sims]
        assert [line["token_exact"] for line in lines] == [False] * len(lines)
        for line in lines:
            assert line["assistant_message"]["content"] == f"I am number {urls.index(line['engine_url'])}."

    def close(self) -> None:
        for program in [self.gateway and self.gateway.program, *(sim.program for sim in self.sims)]:
            if program:
                program.kill()
        if self.gateway:
            self.gateway.http.close()


@pytest.fixture
def make_replicas(tmp_path):
    made = []

    def make(count: int, *serve_options, **options) -> Replicas:
        made.append(Replicas(tmp_path / str(len(made)), count, *serve_options, **options))
        return made[-1]

    yield make
    for replicas in made:
        replicas.close()


BY_MESSAGES = [("openai", "chat"), ("vllm", "responses"), ("dynamo", "messages"), ("sglang", "chat-text")]
by_any_path = pytest.mark.parametrize("by", [None, *BY_MESSAGES], ids=["by ids", *("/".join(way) for way in BY_MESSAGES)])


def samplers(dialogue: Dialogue) -> list[str]:
    return [line["engine_url"] for line in turns(dialogue.lines())]


@by_any_path
def test_conversations_stay_and_new_ones_take_turns(make_replicas, by):
    replicas = make_replicas(2, "--threads", 1, by=by)
    dialogues = [Dialogue(replicas.gateway) for _ in range(4)]
    for _ in range(3):
        for dialogue in dialogues:
            dialogue.say("Who are you?")
    homes = [samplers(dialogue)[0] for dialogue in dialogues]
    assert sorted(homes) == sorted([sim.url for sim in replicas.sims] * 2)
    for dialogue, home in zip(dialogues, homes):
        assert samplers(dialogue) == [home] * 3
        replicas.check(dialogue)


def test_threads_agree_on_where_a_conversation_goes_on(make_replicas):
    replicas = make_replicas(2, "--threads", 4)
    dialogue = Dialogue(replicas.gateway)
    for number in range(12):
        # A connection of its own: the kernel gives it to any thread.
        dialogue.messages.append(user(f"Turn {number}"))
        answer = httpx.post(f"{replicas.gateway.url}/sessions/{dialogue.session}/v1/chat/completions", json=dialogue.body(), timeout=60)
        assert answer.status_code == 200, answer.text
        dialogue.messages.append(answer.json()["choices"][0]["message"])
    assert len(set(samplers(dialogue))) == 1, samplers(dialogue)


@by_any_path
def test_a_conversation_survives_the_death_of_its_engine(make_replicas, by):
    replicas = make_replicas(2, by=by)
    dialogue = Dialogue(replicas.gateway)
    dialogue.say("Who are you?")
    (first,) = samplers(dialogue)
    dead = replicas.named(first)
    dead.program.kill()
    dialogue.say("And now?")
    dialogue.say("And now?")
    (other,) = [sim.url for sim in replicas.sims if sim.url != first]
    assert samplers(dialogue) == [first, other, other]
    replicas.check(dialogue)
    ready = replicas.gateway.http.get("/ready")
    assert ready.status_code == 200, ready.text

    # What is started again at its place is found, and gets new conversations.
    again = [str(part) for part in dead.program.arguments[1:]]
    again[again.index("--port") + 1] = first.rsplit(":", 1)[1]
    dead.program = Program(again, dead.program.stderr)

    def is_back() -> bool:
        new = Dialogue(replicas.gateway)
        new.say("Hello")
        return samplers(new) == [first]

    until(is_back, "the engine that came back is used", seconds=20, pause=0.2)
    dialogue.say("Still there?")
    assert samplers(dialogue)[-1] == other, "its prefix is cached where the last turn was"
    assert "is left out" in replicas.gateway.program.errors() and "is back" in replicas.gateway.program.errors()


@by_any_path
def test_without_any_engine_the_error_names_each(make_replicas, by):
    replicas = make_replicas(2, by=by)
    dialogue = Dialogue(replicas.gateway)
    dialogue.say("Who are you?")
    before = dialogue.snapshot()
    for sim in replicas.sims:
        sim.program.kill()
    answer = dialogue.send(dialogue.body(user("Hello?")))
    assert answer.status_code == 503, answer.text
    for sim in replicas.sims:
        assert sim.url in error_of(answer)["message"]
    assert dialogue.snapshot() == before
    assert replicas.gateway.http.get("/ready").status_code == 503


def test_the_trace_of_a_client_and_its_request_id_go_up_but_not_its_key(stack):
    dialogue = Dialogue(stack.gateway)
    body = json.dumps(dialogue.body(user("Hello"))).encode()
    answer = stack.gateway.http.post(f"/sessions/{dialogue.session}/v1/chat/completions", content=body, headers={
        "authorization": "Bearer secret", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x-request-id": "mine"})
    assert answer.status_code == 200 and answer.headers["x-request-id"] == "mine"
    (line,) = turns(dialogue.lines())
    assert line["request_id"] == "mine" and line["engine_url"] == stack.sim.url


def test_a_salt_is_refused_where_the_release_would_ignore_it(gateway):
    dialogue = Dialogue(gateway)
    answer = dialogue.send(dialogue.body(user("Hello"), cache_salt="tenant"))
    assert answer.status_code in (400, 501), answer.text
    assert error_of(answer)["param"] == "cache_salt"
    dialogue.say("Hello", priority=3)
