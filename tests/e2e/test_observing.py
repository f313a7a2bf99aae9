"""What the program shows of itself: metrics that Prometheus reads."""
import re

import httpx
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
    assert total(values, "verbatim_store_batch_changes_sum") == 4  # three turns and the session
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
