"""Every case that tests/mutations/reports.toml names is there."""
import re
import tomllib
from pathlib import Path

import pytest

from test_mutations import NAMES

ROOT = Path(__file__).resolve().parents[2]
REPORTS = tomllib.loads((ROOT / "tests/mutations/reports.toml").read_text())
ROWS = [(engine, report, cases) for engine, rows in REPORTS.items() for report, cases in rows.items()]
UNIT = {f"{suite}.{name}" for path in (ROOT / "src").rglob("*_test.cc")
        for suite, name in re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", path.read_text(), re.M)}
PYTHON = {f"{path.name}::{name}" for folder in ("e2e", "vllm") for path in (ROOT / "tests" / folder).glob("test_*.py")
          for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.M)}


def exists(case: str) -> bool:
    if case.startswith("fault:"):
        return case.removeprefix("fault:") in NAMES
    return case in (PYTHON if "::" in case else UNIT)


def test_cases_are_found_where_there_are_any():
    assert len(UNIT) > 500 and len(PYTHON) > 100
    assert not exists("fault:none") and not exists("Suite.none") and not exists("test_x.py::test_none")


@pytest.mark.parametrize("engine,report,cases", ROWS, ids=[f"{engine}-{report}" for engine, report, _ in ROWS])
def test_a_report_has_a_case_or_a_reason(engine, report, cases):
    if cases.startswith("none: "):
        assert all(exists(name) for name in re.findall(r"\w+\.\w+", cases.split("(")[1])) if "(" in cases else len(cases) > 15
        return
    assert cases.split(), "no case"
    assert [case for case in cases.split() if not exists(case)] == []


def test_every_fault_of_the_simulator_is_a_switch_that_somebody_asked_for():
    named = {case.removeprefix("fault:") for _, _, cases in ROWS for case in cases.split() if case.startswith("fault:")}
    assert set(NAMES) - named - {"closed", "unknown_finish", "http_400", "stall", "wrong_prompt_tokens"} == set()
