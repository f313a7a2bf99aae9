"""Sessions as clients use them: made with options, entered by doors, with the official SDK as it is."""
import concurrent.futures

import httpx
import openai
import pytest

from programs import MODEL, Program, until
from test_command_line import run

QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


def make(gateway, **options) -> dict:
    answer = gateway.http.post("/sessions", json=options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def client(url: str, key: str = "none", **options) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=30, **options)


def ask(sdk: openai.OpenAI, messages=None, **more):
    return sdk.chat.completions.create(model="qwen3", messages=messages or QUESTION, max_tokens=20, **more)


def nodes(gateway, session: str) -> list[dict]:
    answer = gateway.http.get(f"/sessions/{session}/tree")
    assert answer.status_code == 200, answer.text
    return answer.json()["nodes"]


def test_a_secret_leads_an_unmodified_sdk_into_its_session(gateway):
    made = make(gateway, secret=True, metadata={"run": "r1"})
    with client(f"{gateway.url}/v1", made["secret"]) as sdk:
        first = ask(sdk)
        answered = [*QUESTION, {"role": "assistant", "content": first.choices[0].message.content}, {"role": "user", "content": "And of Spain?"}]
        ask(sdk, answered)
        assert [each.id for each in sdk.models.list()], "the same key lists the model"
    tree = nodes(gateway, made["session_id"])
    assert [node["attach"] for node in tree] == ["first", "history"]
    assert gateway.http.delete(f"/sessions/{made['session_id']}").status_code == 204
    with client(f"{gateway.url}/v1", made["secret"]) as sdk, pytest.raises(openai.AuthenticationError):
        ask(sdk)


@pytest.mark.parametrize("mode", ["tree", "linear", "strict"])
def test_each_mode_takes_its_histories_and_no_others(gateway, mode):
    session = make(gateway, mode=mode)["session_id"]
    other = [{"role": "user", "content": "Something else altogether"}]
    with client(f"{gateway.url}/sessions/{session}/v1") as sdk:
        history = list(QUESTION)
        for question in ("And of Spain?", "And of Italy?"):
            reply = ask(sdk, history).choices[0].message
            history += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": question}]
        before = gateway.http.get(f"/sessions/{session}").content
        outcomes = []
        for messages in (other, history[:-2]):
            try:
                ask(sdk, messages)
                outcomes.append(200)
            except openai.APIStatusError as refused:
                outcomes.append(refused.status_code)
                assert refused.code == "session_diverged" and refused.param == "messages"
                assert gateway.http.get(f"/sessions/{session}").content == before
        assert outcomes == {"tree": [200, 200], "linear": [400, 200], "strict": [409, 409]}[mode]


@pytest.mark.parametrize("stream", [False, True])
def test_choices_are_siblings_and_the_one_that_comes_back_is_continued(gateway, stream):
    session = make(gateway)["session_id"]
    with client(f"{gateway.url}/sessions/{session}/v1") as sdk:
        texts = ["", "", ""]
        if stream:
            with ask(sdk, n=3, stream=True, temperature=1.0, stream_options={"include_usage": True}) as events:
                for event in events:
                    for choice in event.choices:
                        texts[choice.index] += choice.delta.content or ""
        else:
            for choice in ask(sdk, n=3, temperature=1.0).choices:
                texts[choice.index] = choice.message.content or ""
        ask(sdk, [*QUESTION, {"role": "assistant", "content": texts[1]}, {"role": "user", "content": "Why?"}])
    tree = nodes(gateway, session)
    assert [(node["choice"], node["parent"]) for node in tree[:3]] == [(0, None), (1, None), (2, None)]
    assert len({node["response_id"] for node in tree[:3]}) == 1
    same = [node["id"] for node, text in zip(tree, texts) if text == texts[1]]
    assert tree[3]["parent"] in same
    records = gateway.record(session)
    assert len(records) == 4 and records[0]["prompt_token_ids"] == records[2]["prompt_token_ids"]


def test_a_header_names_a_session_and_hostile_names_are_refused(gateway):
    with client(f"{gateway.url}/v1", default_headers={"X-Session-ID": "e2e-header"}) as sdk:
        ask(sdk)
        ask(sdk)
    named = [each for each in gateway.http.get("/sessions?implicit=true&limit=1000").json()["data"]
             if each["metadata"].get("name") == "e2e-header"]
    assert len(named) == 1 and named[0]["turns"] == 2
    for name in ("../../etc/passwd", "a/b", "..", "x" * 4000):
        answer = gateway.http.post("/v1/chat/completions", json={"messages": QUESTION}, headers={"X-Session-ID": name})
        assert answer.status_code == 400 and answer.json()["error"]["param"] == "x-session-id", answer.text


def test_an_idempotency_key_gives_the_same_answer_once_sampled(gateway):
    session = make(gateway)["session_id"]
    with client(f"{gateway.url}/sessions/{session}/v1") as sdk:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: ask(sdk, extra_headers={"Idempotency-Key": "k1"}), range(4)))
        assert len({answer.id for answer in answers}) == 1
        assert len({answer.choices[0].message.content for answer in answers}) == 1
        with pytest.raises(openai.ConflictError):
            ask(sdk, [{"role": "user", "content": "another body"}], extra_headers={"Idempotency-Key": "k1"})
        ask(sdk)
    assert len(nodes(gateway, session)) == 2


def test_the_sdks_own_retry_gets_the_turn_it_lost(make_stack):
    """The SDK's time-out hits while the engine samples: its retry joins the turn that runs, on whatever thread it lands."""
    stack = make_stack("--token-delay-ms", 100, serve_options=("--threads", "2"))
    session = make(stack.gateway)["session_id"]
    with openai.OpenAI(base_url=f"{stack.gateway.url}/sessions/{session}/v1", api_key="none", max_retries=3, timeout=httpx.Timeout(1.0)) as sdk:
        answer = ask(sdk)
    assert answer.choices[0].message.content
    until(lambda: len(nodes(stack.gateway, session)) == 1, "one turn is recorded")


@pytest.mark.parametrize("mode", ["linear", "strict"])
def test_a_line_is_free_for_another_question_when_a_client_of_the_sdk_hangs_up(make_stack, mode):
    stack = make_stack("--token-delay-ms", 20, "--behaviour", "fixed-text", "--text", "word " * 200)
    session = make(stack.gateway, mode=mode)["session_id"]
    with client(f"{stack.gateway.url}/sessions/{session}/v1") as sdk:
        stream = sdk.chat.completions.create(model="qwen3", messages=QUESTION, stream=True)
        next(iter(stream))
        stream.close()
        until(lambda: stack.sim.stats()["running"] == 0, "the engine stopped", 1.5)
        ask(sdk, [{"role": "user", "content": "Something else?"}])
    assert [node["attach"] for node in nodes(stack.gateway, session)] == ["first"]


def test_other_addresses_than_loopback_need_keys(tmp_path):
    serve = ["serve", "--engine", "http://127.0.0.1:9", "--engine-kind", "sglang", "--tokenizer", MODEL, "--port", "0"]
    code, said = run(*serve, "--host", "0.0.0.0")
    assert code == 2 and "--api-keys FILE" in said, said
    (tmp_path / "keys").write_text("ann short\n")
    code, said = run(*serve, "--api-keys", tmp_path / "keys")
    assert code == 2 and "line 1" in said and "short\n" not in said, said
    code, said = run(*serve, "--session-header", "Authorization")
    assert code == 2 and "--session-header" in said, said


def test_owners_have_sessions_of_their_own(make_stack, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("# who may\nann ann-key-0123456789\nbob bob-key-0123456789\n")
    stack = make_stack()
    program = Program(["serve", "--engine", stack.sim.url, "--engine-kind", "sglang", "--tokenizer", MODEL, "--port", 0, "--api-keys", keys,
                       "--cache-dir", tmp_path / "cache"], tmp_path / "stderr")
    try:
        with httpx.Client(base_url=program.url, timeout=60) as http:
            ann, bob = ({"authorization": f"Bearer {owner}-key-0123456789"} for owner in ("ann", "bob"))
            assert http.post("/sessions").status_code == 401
            session = http.post("/sessions", headers=ann).json()["session_id"]
            assert http.get(f"/sessions/{session}", headers=bob).status_code == 404
            assert http.get(f"/sessions/{session}", headers=ann).status_code == 200
            assert http.get("/sessions", headers=bob).json()["data"] == []
        with client(f"{program.url}/v1", "ann-key-0123456789") as sdk:
            assert ask(sdk).choices
        with client(f"{program.url}/v1", "nobody") as sdk, pytest.raises(openai.AuthenticationError):
            ask(sdk)
    finally:
        program.kill()
