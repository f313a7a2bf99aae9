"""I3: a turn that fails leaves session and record as they were, whatever went wrong with the engine."""
import json

import pytest

from dialogue import Dialogue, check_untouched, error_of, user
from fake_engine import HELLO, FakeEngine, events, good, whole
from faults import FAILING, HARMLESS, TEXT, request_for
from programs import Gateway


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("fault", FAILING)
def test_a_fault_of_the_engine_leaves_nothing(gateway, fault, stream):
    dialogue = Dialogue(gateway)
    dialogue.say()
    before = dialogue.snapshot()
    answer = dialogue.send(dialogue.body(user(request_for(fault)), stream=stream))
    begun = stream and answer.status_code == 200
    assert begun or answer.status_code == FAILING[fault], f"{answer.status_code} {answer.text}"
    error = error_of(answer)
    if fault == "http_429":
        assert answer.headers["retry-after"] == "3" and answer.headers["x-engine-request-id"].startswith("sim-") and answer.headers["x-request-id"].startswith("req_")
    if fault == "http_500":
        assert error["message"] == "Internal error."
    check_untouched(dialogue, before)


@pytest.mark.parametrize("fault", ["http_500", "cut_stream", "short_logprobs"])
def test_a_failed_first_turn_leaves_an_empty_session(gateway, fault):
    dialogue = Dialogue(gateway)
    before = dialogue.snapshot()
    answer = dialogue.send(dialogue.body(user(request_for(fault))))
    assert answer.status_code == FAILING[fault]
    check_untouched(dialogue, before)
    assert dialogue.lines()[0]["attach"]["kind"] == "root"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streaming"])
@pytest.mark.parametrize("fault", HARMLESS)
def test_what_is_only_odd_is_still_recorded(stack, fault, stream):
    dialogue = Dialogue(stack.gateway)
    answer = dialogue.send(dialogue.body(user(request_for(fault)), stream=stream))
    assert answer.status_code == 200, answer.text
    line, = dialogue.lines()
    assert line["assistant_message"]["content"] == ("Hello" if fault == "slow_body" else TEXT)
    call = [call for call in stack.sim.log() if call["prompt_ids"] == line["prompt_token_ids"]][-1]
    if fault == "trimmed_stop":
        assert line["completion_token_ids"] == call["output_ids"][:-1]
    else:
        assert line["completion_token_ids"] + line["discarded_token_ids"] == call["output_ids"]
    assert (len(line["discarded_token_ids"]) > 0) == (fault == "ids_past_stop")


def set_meta(**values):
    return lambda answer: answer["meta_info"].update(values) or answer


def drop_meta(name):
    return lambda answer: answer["meta_info"].pop(name) and answer


def set_entry(entry):
    def change(answer):
        answer["meta_info"]["output_token_logprobs"][1] = entry
        return answer
    return change


def set_id(value):
    """An id that is wrong in both places, so that the two agree."""
    def change(answer):
        answer["output_ids"][1] = value
        answer["meta_info"]["output_token_logprobs"][1][1] = value
        return answer
    return change


def raw(text):
    return lambda _: text


MALFORMED = {
    "not JSON": raw("Hello"), "an array": raw("[]"), "null": raw("null"), "empty": raw(""), "cut": raw('{"text":"Hel'),
    "no meta_info": lambda answer: answer.pop("meta_info") and answer,
    "meta_info null": lambda answer: answer | {"meta_info": None},
    "meta_info not an object": lambda answer: answer | {"meta_info": []},
    "no logprobs": drop_meta("output_token_logprobs"),
    "logprobs null": set_meta(output_token_logprobs=None),
    "logprobs one short": lambda answer: answer["meta_info"]["output_token_logprobs"].pop() and answer,
    "logprob entry not a list": set_entry(-0.5),
    "logprob entry empty": set_entry([]),
    "logprob null": set_entry([None, HELLO[1], None]),
    "logprob text": set_entry(["-0.5", HELLO[1], None]),
    "logprob NaN": lambda answer: json.dumps(set_entry([float("nan"), HELLO[1], None])(answer)),
    "logprob infinite": lambda answer: json.dumps(set_entry([float("-inf"), HELLO[1], None])(answer)),
    "logprob of another id": set_entry([-0.5, HELLO[1] + 1, None]),
    "completion_tokens missing": drop_meta("completion_tokens"),
    "completion_tokens one too high": set_meta(completion_tokens=len(HELLO) + 1),
    "prompt_tokens of another prompt": set_meta(prompt_tokens=3),
    "finish_reason missing": drop_meta("finish_reason"),
    "finish_reason unknown": set_meta(finish_reason={"type": "bored"}),
    "finish_reason a string": set_meta(finish_reason="stop"),
    "id a string": set_id("17"), "id negative": set_id(-1), "id 2^40": set_id(2**40), "id true": set_id(True), "id a fraction": set_id(17.5),
    "id null": set_id(None), "id beyond the vocabulary": set_id(151936),
    "an error": lambda _: {"error": {"message": "the worker has died"}},
}


@pytest.fixture(scope="module")
def fake(workplace):
    engine = FakeEngine()
    folder = workplace / "fake"
    folder.mkdir()
    gateway = Gateway(folder, engine.url)
    yield engine, gateway
    gateway.close()
    engine.close()


@pytest.fixture
def fake_engine(fake):
    fake[0].reply = lambda request: events(good(request))
    return fake[0]


@pytest.mark.parametrize("form", [whole, events], ids=["body", "event"])
@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_answer_is_the_engines_fault(fake, fake_engine, name, form):
    _, gateway = fake
    dialogue = Dialogue(gateway)
    dialogue.say("Hello")
    before = dialogue.snapshot()
    fake_engine.reply = lambda request: form(MALFORMED[name](good(request)))
    answer = dialogue.send(dialogue.body(user("Go on")))
    assert answer.status_code == 502, f"{answer.status_code} {answer.text}"
    error_of(answer)
    fake_engine.reply = lambda request: events(good(request))
    check_untouched(dialogue, before)


def test_the_fake_engine_is_right_where_nothing_is_changed(fake, fake_engine):
    """Else the cases above would fail for another reason."""
    _, gateway = fake
    for form in (whole, events):
        dialogue = Dialogue(gateway)
        fake_engine.reply = lambda request, form=form: form(good(request))
        dialogue.say("Hello")
        assert dialogue.lines()[0]["completion_token_ids"] == HELLO


def test_an_error_page_of_a_proxy_is_wrapped(fake, fake_engine):
    _, gateway = fake
    dialogue = Dialogue(gateway)
    fake_engine.reply = lambda _: (504, "text/html", b"<html>gateway time-out</html>")
    answer = dialogue.send(dialogue.body(user("Hello")))
    assert answer.status_code == 504
    assert error_of(answer)["type"] == "upstream_error"


def test_an_error_in_the_clients_shape_passes_byte_for_byte(fake, fake_engine):
    _, gateway = fake
    body = b'{"error": {"message":"too  many", "type":"x","code":12}}'
    fake_engine.reply = lambda _: (429, "application/json", body)
    dialogue = Dialogue(gateway)
    answer = dialogue.send(dialogue.body(user("Hello")))
    assert (answer.status_code, answer.content) == (429, body)
