"""The rules that `make mutate` takes out still stand in the source, and every rule of the table of proofs and of cassettes is among them."""
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import mutate  # noqa: E402

MUTATIONS = mutate.load()
OF_CASSETTES = mutate.load_cassettes()
# Names of faults, from the enum and its list of names, which are in the same order.
ENUM = re.findall(r"^\s+(k\w+),", (ROOT / "src/sim/faults.h").read_text().split("enum class Fault")[1].split("};")[0], re.M)
NAMES = re.findall(r'"(\w+)"', (ROOT / "src/sim/faults.cc").read_text().split("kNames = {")[1].split("};")[0])
FAULTS = dict(zip(ENUM, NAMES))
ROW = re.compile(r"(malformed_at|refused|good|no_such)\(Fault::(k\w+)")
# Which lists of rows a kind's modes read, most special first: src/engine/<kind>/testing/proofs.cc.
LISTS = {
    "sglang/generate": ["sglang:kProofs"],
    "sglang/chat": ["sglang:kChat", "sglang:kProofs"],
    "vllm/generate": ["vllm:kProofs"],
    "vllm/completions": ["vllm:kCompletions", "vllm:kProofs"],
    "vllm/derender": ["vllm:kDerender", "vllm:kProofs"],
    "dynamo/chat": ["dynamo:kProofs"],
    "dynamo/generate": ["dynamo:kGenerate", "dynamo:kProofs"],
}
GROUPS = tomllib.loads(mutate.RULES.read_text())["groups"]
for way, lists in LISTS.items():
    lists += ["all:kOfIds", "all:kOfAll"]
for way in GROUPS["by messages"]:
    LISTS[way] = (["messages:kChat"] if way in GROUPS["by messages over chat"] else []) + ["messages:kProofs", "all:kOfAll"]
# Without a rule that could be taken out: the bytes that would be read are not there; or two rules refuse it, and either is enough.
WITHOUT_RULE = {"closed"}
HELD_TWICE = {"dynamo/generate": {"abort", "null_finish"}, "sglang/generate": {"short_logprobs"},
              # The error object names its status too.
              "vllm/derender": {"http_400", "http_404", "http_413", "http_500", "http_503"},
              # What is no JSON is no answer of any protocol either.
              **{way: {"html_body"} for way in GROUPS["by messages"]}}


def rows(place: str) -> dict[str, str]:
    """Fault -> verdict, of one list."""
    kind, name = place.split(":")
    path = ROOT / ("src/engine/testing/proofs.cc" if kind == "all" else f"src/engine/{kind}/testing/proofs.cc")
    text = path.read_text().split(f"std::array {name} = {{")[1].split("};")[0]
    return {FAULTS[fault]: verdict for verdict, fault in ROW.findall(text)}


def refused(way: str) -> set[str]:
    """The faults that a client of this kind and mode is told of."""
    verdicts: dict[str, str] = {}
    for place in LISTS[way]:
        for fault, verdict in rows(place).items():
            verdicts.setdefault(fault, verdict)
    return {fault for fault, verdict in verdicts.items() if verdict in ("malformed_at", "refused")} - WITHOUT_RULE - HELD_TWICE.get(way, set())


def test_the_names_of_faults_are_read_as_they_are():
    assert len(ENUM) == len(NAMES) > 30 and FAULTS["kNoOutputIds"] == "no_output_ids" and FAULTS["kUnknownFinish"] == "unknown_finish"


@pytest.mark.parametrize("mutation", MUTATIONS + OF_CASSETTES, ids=lambda mutation: mutation.rule)
def test_a_rule_still_stands_where_it_is_taken_out(mutation):
    assert mutation.apply((ROOT / mutation.file).read_text()) != ""


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.rule)
def test_a_rule_names_cases_that_there_are(mutation):
    assert mutation.fails
    for way, faults in mutation.fails.items():
        assert faults and set(faults) <= refused(way), f"{way}: not refused by any row"


def test_each_rule_has_a_name_of_its_own():
    names = [mutation.rule for mutation in MUTATIONS + OF_CASSETTES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("way", LISTS)
def test_every_fault_that_is_refused_is_refused_by_a_rule_that_is_taken_out(way):
    covered = {fault for mutation in MUTATIONS for fault in mutation.fails.get(way, ())}
    assert refused(way) - covered == set()


def names_of_cases() -> dict[str, str]:
    """Of each suite, where the names stand that can fail in it."""
    units = "".join(path.read_text() for path in (ROOT / "src/cassette").glob("*_test.cc"))
    replays = "".join((ROOT / "tests/e2e" / name).read_text() for name in ("test_cassettes.py", "test_replay.py"))
    recordings = " ".join(path.name for path in (ROOT / "tests/cassettes").rglob("*.yaml"))
    return {"units": units, "replays": replays + recordings}


@pytest.mark.parametrize("mutation", OF_CASSETTES, ids=lambda mutation: mutation.rule)
def test_a_rule_of_cassettes_names_cases_that_there_are(mutation):
    texts = names_of_cases()
    assert mutation.noticed and set(mutation.noticed) <= set(mutate.SUITES)
    for suite, words in mutation.noticed.items():
        for each in words:
            assert words and all(part in texts[suite] for part in re.split(r"[.\[\]]", each)), f"{suite}: {each}"


def test_every_rule_of_the_format_is_taken_out():
    rows = re.findall(r'^      \{"([^"]+)",', names_of_cases()["units"].split("kBreaks = {")[1].split("};")[0], re.M)
    by_hand = re.findall(r'^ *(?:BROKEN = \{)?"([^"]+)": \(r"', names_of_cases()["replays"], re.M)
    noticed = {word for mutation in OF_CASSETTES for words in mutation.noticed.values() for word in words}
    assert len(rows) > 20 and len(by_hand) == 6 and set(rows) | set(by_hand) <= noticed


def test_a_rule_that_no_longer_fits_is_told():
    gone = mutate.Mutation("gone", "a.cc", "old", "new", {})
    for text in ("", "old old"):
        with pytest.raises(ValueError, match="expected once"):
            gone.apply(text)
