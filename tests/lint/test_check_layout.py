"""Each rule of scripts/check-layout.py fires on a bad sample and keeps quiet on a good one."""
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(name: str):
    """A script as a module (its file name is no identifier)."""
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


layout = load("check-layout")
# The places the allow list names, empty: no entry is stale.
ALLOWED_PLACES = {p.strip("^$").replace("\\", ""): "" for (_, p) in layout.ALLOWED if p.startswith("^") and p.endswith("$")}

DESIGN = """
## 3. Modules: one directory = one library

| dir | owns | may use |
|---|---|---|
| `src/base` | seams | – |
| `src/json` | documents | base |
| `src/net` | HTTP | base |
| `src/chat` | templates | json |
| `src/engine` | kinds | net |
| `src/sim` | engines | net, chat |
| `src/cli` | commands | all |

## 4. Main types
"""
TERMS = """
## Words to avoid

| Not | Say | Why |
|---|---|---|
| client-owned tool | client-executed function tool | |
| chain of thought; CoT | reasoning text | |
"""


def rules(findings):
    return [(f.path, f.line, f.rule) for f in findings]


def test_the_table_of_the_design_is_read_as_its_closure():
    table = layout.may_use(DESIGN)
    assert table["chat"] == {"chat", "json", "base"}
    assert table["cli"] >= {"base", "json", "net", "chat", "engine", "sim", "cli"}
    assert table["base"] == {"base"}


def test_the_real_table_has_every_directory_of_the_source():
    table = layout.may_use((ROOT / "docs" / "design.md").read_text())
    dirs = {p.name for p in (ROOT / "src").iterdir() if any(p.rglob("*.h"))}
    assert dirs <= set(table)


def test_an_include_that_points_up_is_found():
    files = {"src/json/value.h": '#pragma once\n#include "chat/renderer.h"\n'}
    assert rules(layout.check_arrows(files, DESIGN)) == [("src/json/value.h", 2, "arrows")]


def test_an_include_that_points_down_is_fine():
    files = {"src/chat/renderer.h": '#include "base/result.h"\n#include "json/value.h"\n#include "chat/x.h"\n#include <vector>\n'}
    assert layout.check_arrows(files, DESIGN) == []


def test_a_test_may_use_the_simulator_and_the_product_may_not():
    text = '#include "sim/server.h"\n'
    assert layout.check_arrows({"src/engine/a_test.cc": text}, DESIGN) == []
    assert rules(layout.check_arrows({"src/engine/a.cc": text}, DESIGN)) == [("src/engine/a.cc", 1, "arrows")]


def test_a_directory_outside_the_table_is_found():
    assert rules(layout.check_arrows({"src/misc/a.cc": ""}, DESIGN)) == [("src/misc/a.cc", 1, "arrows")]


def test_a_missing_table_is_found():
    assert rules(layout.check_arrows({}, "# nothing")) == [("docs/design.md", 1, "arrows")]


def test_asio_outside_net_is_found():
    text = "#include <boost/asio/post.hpp>\n"
    assert rules(layout.check_asio({"src/engine/a.cc": text})) == [("src/engine/a.cc", 1, "asio")]
    assert layout.check_asio({"src/net/a.cc": text}) == []


@pytest.mark.parametrize("line", [
    "std::thread t([] {});", "std::jthread t;", "auto f = std::async(run);",
    "auto t = std::chrono::steady_clock::now();", "clock_gettime(CLOCK_MONOTONIC, &ts);", "seed(std::time(nullptr));", "x = time(NULL);",
    "std::this_thread::sleep_for(1ms);", "usleep(5);",
    "int fd = ::open(path, O_RDONLY);", "int fd = open(path, O_RDONLY | O_CLOEXEC);", "openat(dir, path, O_RDONLY);", 'FILE* f = fopen(path, "r");', "std::ifstream in(path);",
    "std::filesystem::remove(p);", "void* p = ::mmap(nullptr, n, 1, 2, fd, 0);",
    "getaddrinfo(host, port, &hints, &out);", "int s = ::socket(AF_INET, SOCK_STREAM, 0);",
    "std::random_device device;", "getrandom(buffer, 8, 0);", 'read("/dev/urandom");', "RAND_bytes(buffer, 8);", "int x = rand();",
    'std::printf("%s", text);', 'fprintf(stderr, "x");', "std::puts(text);", "fwrite(a, 1, n, stdout);", "std::cerr << text;",
])
def test_each_thing_behind_a_seam_is_found_elsewhere(line):
    found = layout.check_seams({**ALLOWED_PLACES, "src/chat/a.cc": f"// {line}\n{line}\n"})
    assert rules(found) == [("src/chat/a.cc", 2, "seams")]


@pytest.mark.parametrize("line", [
    "auto t = executor.clock().now();", "MonoTime now() const;", "co_await base::sleep_for(executor, 1s);",
    "auto f = files.open_append(path);", "cache.open(path);", "Status open(char c);", "if (!open(c)) return;", "stream.connect(to);", "operand(x);", "Task<> run_thread(int);",
    "const auto runtime = elapsed_time(NULL_TOKEN);", 'std::snprintf(buffer, 8, "%d", n);', 'say("it failed");', "co_await output(text);",
])
def test_the_seams_themselves_may_be_used_anywhere(line):
    assert layout.check_seams({**ALLOWED_PLACES, "src/chat/a.cc": line + "\n"}) == []


def test_a_seam_may_use_what_it_hides():
    assert [f for f in layout.check_seams({"src/base/worker.cc": "std::thread t;\n"}) if "stale" not in f.message] == []


def test_an_allowed_place_that_is_gone_is_found():
    found = layout.check_seams({"src/base/worker.cc": ""})
    assert any("src/base/files" in f.message and "stale" in f.message for f in found)


def test_a_wire_name_outside_its_engine_is_found():
    text = 'auto v = doc.get("output_token_logprobs");\n'
    assert rules(layout.check_wire({"src/gateway/a.cc": text})) == [("src/gateway/a.cc", 1, "wire")]
    assert rules(layout.check_wire({"src/engine/vllm/a.cc": text})) == [("src/engine/vllm/a.cc", 1, "wire")]
    for home in ("src/engine/sglang/a.cc", "src/sim/a.cc", "src/client/a.cc"):
        assert layout.check_wire({home: text}) == []


def test_a_wire_name_in_a_raw_string_or_a_path_is_found():
    assert layout.check_wire({"src/gateway/a.cc": 'post(R"({"max_new_tokens": 1})");\n'})
    assert layout.check_wire({"src/gateway/a.cc": 'post("/abort_request");\n'})


def test_a_wire_name_that_two_engines_share_is_at_home_in_both():
    text = 'write("return_tokens_as_token_ids");\n'
    for kind in ("vllm", "dynamo"):
        assert layout.check_wire({f"src/engine/{kind}/a.cc": text}) == []
    found = layout.check_wire({"src/engine/sglang/a.cc": text})
    assert rules(found) == [("src/engine/sglang/a.cc", 1, "wire")]
    assert "src/engine/vllm or src/engine/dynamo" in found[0].message


def test_a_wire_name_in_a_comment_or_as_an_identifier_is_fine():
    text = "// SGLang calls this max_new_tokens.\nrequest.max_new_tokens = 5;\n"
    assert layout.check_wire({"src/gateway/a.cc": text}) == []


@pytest.mark.parametrize("text", ["a client-owned tool", "Client owned\ntools", "the chain of thought", "its CoT"])
def test_a_word_to_avoid_is_found_in_documents_and_source(text):
    assert len(layout.check_words({"README.md": text}, TERMS)) == 1
    assert len(layout.check_words({"src/chat/a.cc": "// " + text.replace("\n", "\n// ")}, TERMS)) == 1
    assert len(layout.check_words({"docs/guide.md": text}, TERMS)) == 1


def test_words_to_avoid_do_not_match_inside_other_words():
    assert layout.check_words({"README.md": "scottish reasoning text, cotton"}, TERMS) == []


def test_the_terminology_may_name_what_it_replaces():
    assert layout.check_words({"TERMINOLOGY.md": "chain of thought"}, TERMS) == []


def test_the_real_terminology_has_words_to_avoid():
    words = {w for w, _ in layout.avoided_words((ROOT / "TERMINOLOGY.md").read_text())}
    assert {"client-owned tool", "chain of thought"} <= words


def test_a_directory_without_a_readme_is_found():
    assert rules(layout.check_readme({"src/chat/a.cc": ""})) == [("src/chat/README.md", 1, "readme")]
    assert layout.check_readme({"src/chat/a.cc": "", "src/chat/README.md": "# chat\n"}) == []


def test_a_readme_longer_than_a_screen_is_found():
    files = {"src/chat/a.cc": "", "src/chat/README.md": "# chat\n" + "x\n" * 200}
    assert [f.rule for f in layout.check_readme(files)] == ["readme"]


def test_a_readme_that_clang_format_took_for_code_is_found():
    files = {"src/chat/a.cc": "", "src/chat/README.md": "#chat\n", "tests/cases/README.md": "#cases\n"}
    assert rules(layout.check_readme(files)) == [("src/chat/README.md", 1, "readme"), ("tests/cases/README.md", 1, "readme")]


@pytest.mark.parametrize("text", ["see /home/someone/x", "path = '/work/shared'", "curl https://pypi.org/simple", "huggingface.co/x"])
def test_a_machine_path_or_a_registry_host_is_found(text):
    assert rules(layout.check_places({"docs/a.md": "fine\n" + text})) == [("docs/a.md", 2, "places")]


@pytest.mark.parametrize("text", ["/usr/share/llhttp", "src/work/x", "/v1/chat/completions", "Hugging Face tokenizers", "${dir}/work/x"])
def test_ordinary_paths_and_names_are_fine(text):
    assert layout.check_places({"docs/a.md": text}) == []


def test_a_link_that_leads_nowhere_is_found():
    text = "see [design](design.md)\nand [more](../src/base)\nand [gone](gone.md#part)\n"
    files = {"docs/README.md": text, "docs/design.md": "", "src/base/a.h": ""}
    assert rules(layout.check_links(files)) == [("docs/README.md", 3, "links")]


def test_links_to_the_web_and_inside_a_page_are_not_followed():
    assert layout.check_links({"docs/a.md": "[a](https://example.org/x) [b](#here) `[c](no.md)`"}) == []
