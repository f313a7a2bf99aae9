"""What the program shows of itself: metrics that Prometheus reads, logs that programs read, and a session as a page for people."""
import html.parser
import json
import re

import httpx
import pytest
from openai import OpenAI
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

from programs import MODEL, Program, until

OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}


def samples(text: str, parse=prometheus) -> dict:
    """Values by (name, labels). Names and labels of samples may stand once only."""
    found = {}
    for family in parse(text):
        assert family.documentation, f"{family.name} has no help"
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, f"{key} stands twice"
            found[key] = sample.value
    return found


def total(values: dict, name: str, **labels) -> float:
    return sum(value for (found, own), value in values.items() if found == name and set(labels.items()) <= set(own))


def metrics(gateway) -> dict:
    """When nothing is under way: a client has its answer a moment before it is counted."""
    def quiet():
        answer = gateway.http.get("/metrics")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        values = samples(answer.text)
        return total(values, "verbatim_turn_requests_running") == 0 and values
    return until(quiet, "no request runs")


def test_what_was_asked_and_answered_is_in_the_metrics(make_stack):
    gateway = make_stack(serve_options=["--threads", "2"]).gateway
    session = gateway.session()
    history = []
    sampled = 0
    for text in ("one", "two", "three"):
        history.append({"role": "user", "content": text})
        answer = gateway.chat(session, {"messages": history})
        assert answer.status_code == 200
        history.append(answer.json()["choices"][0]["message"])
        sampled += answer.json()["usage"]["completion_tokens"]
    assert gateway.chat(session, "{").status_code == 400
    values = metrics(gateway)
    assert total(values, "verbatim_turn_requests_total", door="path", outcome="answered") == 3
    assert total(values, "verbatim_turn_requests_total", outcome="refused") == 1
    assert total(values, "verbatim_turns_committed_total") == 3
    assert total(values, "verbatim_turns_committed_total", mode="tree", attach="child", reason="history") == 2
    assert total(values, "verbatim_sampled_tokens_total") == sampled
    assert total(values, "verbatim_turn_stage_seconds_count", stage="commit") == 3
    assert total(values, "verbatim_store_batches_total", outcome="kept") == total(values, "verbatim_store_batch_seconds_count") >= 4
    # Three turns and the session; questions whether the gateway is ready may have written too.
    assert total(values, "verbatim_store_batch_changes_sum") >= 4
    assert total(values, "verbatim_store_failing") == 0
    assert total(values, "verbatim_record_lines_total", outcome="written") == 3
    assert total(values, "verbatim_engine_up") == 1
    assert total(values, "verbatim_engine_requests_total", outcome="answered") == 3
    assert total(values, "verbatim_engine_info", kind="sglang") == 1
    assert total(values, "verbatim_build_info") == 1
    assert total(values, "process_resident_memory_bytes") > 1 << 20
    assert total(values, "process_open_fds") > 5
    # Where its time went adds up to the time of a request.
    spent = total(values, "verbatim_turn_stage_seconds_sum")
    assert 0.5 * total(values, "verbatim_turn_request_seconds_sum") < spent <= total(values, "verbatim_turn_request_seconds_sum") + 1e-3


def test_both_formats_of_the_metrics_say_the_same(stack):
    plain = stack.gateway.http.get("/metrics")
    opened = stack.gateway.http.get("/metrics", headers=OPENMETRICS)
    assert opened.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert set(samples(plain.text)) == set(samples(opened.text, openmetrics))


def test_names_follow_the_conventions(stack):
    for family in prometheus(stack.gateway.http.get("/metrics").text):
        assert re.fullmatch(r"(verbatim|process)_[a-z0-9_]+", family.name)
        assert family.type != "unknown"
        if family.type == "counter":  # the parser takes the suffix away
            assert all(sample.name.endswith("_total") for sample in family.samples)
        else:
            assert not family.name.endswith("_total")
        for sample in family.samples:
            assert len(sample.labels) <= 4


def test_metrics_need_a_key_where_there_are_keys_and_no_engine(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("alice key-of-alice-0123456789\n")
    program = Program(["serve", "--engine", "http://127.0.0.1:9", "--engine-kind", "sglang", "--tokenizer", MODEL, "--cache-dir", tmp_path / "cache",
                       "--store", "memory", "--api-keys", keys, "--port", 0], tmp_path / "stderr")
    try:
        assert httpx.get(program.url + "/metrics").status_code == 401
        answer = httpx.get(program.url + "/metrics", headers={"Authorization": "Bearer key-of-alice-0123456789"})
        assert total(samples(answer.text), "verbatim_http_answers_total", code="401") == 1
        assert httpx.get(program.url + "/health").status_code == 200
    finally:
        program.kill()


def log_lines(stack) -> list[dict]:
    return [json.loads(line) for line in stack.gateway.program.stderr.read_text().splitlines()]


def test_the_log_is_a_line_of_json_for_each_event_and_holds_no_conversation(make_stack):
    stack = make_stack(serve_options=["--log-format", "json"])
    session = stack.gateway.session()
    secret = "the password is swordfish"
    headers = {"x-request-id": "mine-1", "authorization": "Bearer key-that-nobody-may-see"}
    body = {"messages": [{"role": "user", "content": secret}]}
    path = f"/sessions/{session}/v1/chat/completions"
    answer = stack.gateway.http.post(path, json=body, headers=headers)
    assert answer.status_code == 200
    assert stack.gateway.http.post(path, json={"messages": [{"role": secret}]}, headers=headers).status_code == 400
    lines = until(lambda: [line for line in log_lines(stack) if line["event"] == "turn"][1:] and log_lines(stack), "two turns in the log")
    turns = [line for line in lines if line["event"] == "turn"]
    assert [turn["outcome"] for turn in turns] == ["answered", "refused"]
    first = turns[0]
    assert first["request_id"] == "mine-1" == answer.headers["x-request-id"]
    assert first["session"] == session and first["status"] == 200 and first["level"] == "info"
    assert first["attach"] == "root" and first["reason"] == "first" and first["engine"] == stack.sim.url
    usage = answer.json()["usage"]
    assert (first["prompt_tokens"], first["sampled_tokens"]) == (usage["prompt_tokens"], usage["completion_tokens"])
    assert {"read", "plan", "render", "first_token", "commit"} <= set(first["stages_ms"])
    assert sum(first["stages_ms"].values()) <= first["ms"] + 1
    assert turns[1]["error"] == "invalid_request" and turns[1]["status"] == 400
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) for line in lines)
    assert any(line["event"] == "notice" and "conversations are kept in" in line["message"] for line in lines)
    text = stack.gateway.program.stderr.read_text()
    assert "swordfish" not in text and "nobody-may-see" not in text
    tree = stack.gateway.http.get(f"/sessions/{session}/tree").json()
    assert first["turns"] == [node["id"] for node in tree["nodes"]]


def test_the_log_for_people_is_as_it_was(make_stack):
    stack = make_stack(serve_options=["--log-level", "info"])
    session = stack.gateway.session()
    assert stack.gateway.chat(session, {"messages": [{"role": "user", "content": "a"}]}).status_code == 200
    text = until(lambda: "answered 200" in stack.gateway.program.errors() and stack.gateway.program.errors(), "a turn in the log")
    assert all(line.startswith("verbatim: ") for line in text.splitlines())
    assert f"session {session}, turn 1 (root, first)" in text


class Page(html.parser.HTMLParser):
    """Tags, attributes and text of a page; every tag must be closed in order."""

    VOID = {"meta"}

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.open = set(), set(), "", []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data


HOSTILE = ["</pre><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"><svg/onload=alert(3)>", "</style><style>*{display:none}</style>",
           "&lt;b&gt;", "]]>", "<!--", "\u202egnp.exe", "a\u0000b\u0007c"]
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}


def test_a_session_is_a_page_for_browsers_in_which_nothing_hostile_runs(make_stack):
    gateway = make_stack().gateway
    session = gateway.http.post("/sessions", json={"metadata": {"note": HOSTILE[0]}}).json()["session_id"]
    client = OpenAI(base_url=f"{gateway.url}/sessions/{session}/v1", api_key="none")
    for text in HOSTILE:
        client.chat.completions.create(model="m", messages=[{"role": "system", "content": text}, {"role": "user", "content": text}],
                                       extra_headers={"x-request-id": "<script>x</script>"})
    answer = gateway.http.get(f"/sessions/{session}", headers=BROWSER)
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    nonce = re.fullmatch(r"default-src 'none'; style-src 'nonce-(\w{22,})'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", policy)[1]
    assert answer.text.count(nonce) == 1
    assert answer.headers["x-content-type-options"] == "nosniff"
    page = Page(answer.text)
    assert page.tags <= {"html", "head", "meta", "title", "style", "body", "h1", "h2", "table", "tr", "th", "td", "section", "details", "summary",
                         "span", "p", "pre", "a"}
    assert page.attributes <= {"lang", "charset", "nonce", "class", "id", "href"}
    for text in HOSTILE[:-1]:
        assert text in page.text, text
    assert "<script>x</script>" in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", answer.text)


def test_a_page_shows_how_each_turn_attached_and_why(make_stack):
    gateway = make_stack().gateway
    session = gateway.session()
    ask = lambda *messages: gateway.chat(session, {"messages": [{"role": role, "content": text} for role, text in messages]}).json()
    said = ask(("user", "a"))["choices"][0]["message"]["content"]
    ask(("user", "a"), ("assistant", said), ("user", "b"))
    ask(("user", "a"), ("assistant", said), ("user", "c"))
    ask(("user", "other"), ("assistant", said), ("user", "b"))
    page = Page(gateway.http.get(f"/sessions/{session}", headers=BROWSER).text)
    for text in ("Line 1", "Line 2", "Line 3", "behind turn 1 (history)", "new root (history)", "first difference from the turn before: messages["):
        assert text in page.text, page.text


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/json, text/html", "text/html;q=0.4, application/json;q=0.5"])
def test_programs_get_json_as_ever(gateway, accept):
    session = gateway.session()
    headers = {} if accept is None else {"Accept": accept}
    answer = gateway.http.get(f"/sessions/{session}", headers=headers)
    assert answer.headers["content-type"] == "application/json" and answer.json()["session_id"] == session


def test_a_page_of_no_session_is_not_found(gateway):
    assert gateway.http.get("/sessions/nowhere", headers=BROWSER).status_code == 404
