#!/usr/bin/env python3
"""Checks the rules of docs/design.md 3 that a compiler does not see. Prints `file:line: rule: what to do`, exits 1 on a finding.

    scripts/check-layout.py [ROOT]

Rules
    arrows     an #include between directories of src/ follows the table in docs/design.md 3 (that table is read, not copied)
    asio       Asio and Beast stand in src/net only
    seams      threads, clocks, sleeps, files, sockets, name lookup, random devices and printing stand in the seams only (ALLOWED below)
    wire       string literals with an engine's wire names stand in src/engine/<kind>, src/client and src/sim only
    words      words that TERMINOLOGY.md replaces (that table is read, not copied)
    readme     each directory of src/ has a README.md of at most a screen; each README.md begins with a title
    places     no path of somebody's machine, no host of a package registry
    links      a relative link of a document leads to a file or directory

Only files that git tracks, or would track, are read. Standard library only.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CODE = (".h", ".cc", ".c")
# Tests may also drive the simulator; nothing else changes for them.
TEST_FILE = re.compile(r"(_test|_bench|_fuzz)\.cc$|/testing/")
README_LINES = 60


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


# --------------------------------------------------------------------------- seams
# name -> (what it looks like, where to go instead)
SEAMS = {
    "thread": (r"std::j?thread\b|\bpthread_create\b|std::async\b", "base::Worker or the executor"),
    "clock": (r"_clock::now\(|\bclock_gettime\b|\bgettimeofday\b|\bstd::time\(|(?<![\w.>:])time\((?:nullptr|NULL|0)\)",
              "base::Clock"),
    "sleep": (r"\bthis_thread::sleep|\busleep\(|\bnanosleep\(|(?<![\w.>])::sleep\(", "base::sleep_for"),
    # A bare open( is the system's only with its O_ flags: parsers may well have a function of that name.
    "file": (r"(?<!\w)::open(?:at)?\(|\bopen(?:at)?\(.*\bO_[A-Z]|\bfopen\(|std::[io]?fstream\b|std::filesystem\b|(?<!\w)::mmap\(",
             "base::Files"),
    "network": (r"\bgetaddrinfo\b|\bgethostbyname|(?<!\w)::(?:socket|connect|accept4?|bind|listen)\(", "base::Network"),
    "random": (r"std::random_device\b|\bgetrandom\(|\bgetentropy\(|/dev/u?random|\bRAND_bytes\b|\barc4random|(?<!\w)s?rand\(",
               "base::Random"),
    "terminal": (r"\bf?printf\(|\bfwrite\(|\bf?puts\(|std::(?:cout|cerr|clog)\b", "say(), announce() or print_line() of src/cli/command.h"),
}
# (seam, path pattern) -> why. One line for each place; a pattern with a `$` that matches no file is reported as stale.
ALLOWED = {
    ("thread", r"^src/base/worker\.cc$"): "the worker thread itself",
    ("file", r"^src/base/files\.cc$"): "the file system itself",
    ("random", r"^src/base/random\.cc$"): "the random source itself",
    ("thread", r"^src/net/asio_"): "the threads of the executors",
    ("clock", r"^src/net/asio_"): "the real clock",
    ("network", r"^src/net/asio_"): "resolve, connect, listen",
    ("terminal", r"^src/cli/command\.cc$"): "the one place where text from outside loses its control characters",
    ("terminal", r"^src/cli/demo_page\.cc$"): "colours of its own",
    ("terminal", r"^src/base/sim/sim_executor\.cc$"): "last words before abort()",
    ("terminal", r"_(test|bench)\.cc$|/testing/"): "tests tell their runner",
    ("thread", r"_(test|bench)\.cc$"): "tests of thread-safety",
    ("clock", r"_bench\.cc$"): "benchmarks measure",
    ("file", r"_(test|bench)\.cc$|/testing/"): "tests make and read files of their own",
}

# --------------------------------------------------------------------------- wire names
# Names only this engine uses on its wire; names it shares with the public protocols are not here.
WIRE = {
    "sglang": ("output_token_logprobs", "input_token_logprobs", "output_top_logprobs", "return_logprob", "logprob_start_len",
               "top_logprobs_num", "token_ids_logprob", "return_text_in_logprobs", "max_new_tokens", "meta_info", "no_stop_trim",
               "stream_output", "abort_request", "get_server_info", "get_model_info", "return_routed_experts"),
    "vllm": ("kv_transfer_params", "return_tokens_as_token_ids", "return_token_ids", "inference/v1/generate", "abort_requests",
             "derender", "prompt_logprobs", "flat_logprobs"),
    "dynamo": ("return_tokens_as_token_ids", "nvext", "extra_args", "backend_instance_id"),
}
# GET /sessions/{id} answers in the shape that trainers read from session servers, which has SGLang's words in it.
WIRE_HOMES = ("src/client/", "src/sim/", "src/gateway/session_view.cc")

# --------------------------------------------------------------------------- places
MACHINE_PATHS = re.compile(r"(?<![\w.$}\)-])/(?:work|home|root|opt|Users|mnt)/[\w.-]+")
HOSTS = re.compile(r"\b(?:" + "|".join(h.replace(".", r"\.") for h in (
    "pypi.org", "pythonhosted.org", "npmjs.org", "npmjs.com", "crates.io", "huggingface.co", "hf.co", "deb.debian.org",
    "rubygems.org", "proxy.golang.org", "docker.io", "ghcr.io", "quay.io")) + r")\b")
# Cases hold what clients really send; this file and its test hold the patterns.
PLACES_SKIP = ("tests/cases/", "scripts/check-layout.py", "tests/lint/")


def tracked(root: Path) -> list[str]:
    out = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    return sorted(p for p in set(out.split("\0")) if p and (root / p).is_file())


def read(root: Path, path: str) -> str:
    """The text, or "" for a binary file."""
    data = (root / path).read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", "replace")


TOKEN = re.compile(r'R"\w*\((?:.|\n)*?\)\w*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/')


def code_lines(text: str) -> list[str]:
    """The lines with comments blanked; line numbers stay."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], text).split("\n")


def string_literals(text: str) -> list[tuple[int, str]]:
    """(line, literal) of each string literal."""
    return [(text.count("\n", 0, m.start()) + 1, m[0]) for m in TOKEN.finditer(text) if m[0].startswith(('"', "R"))]


def table_rows(text: str, heading: str) -> list[list[str]]:
    """Cells of the rows of the first table below a heading."""
    rows: list[list[str]] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("#"):
            if inside and rows:
                break
            inside = line.lstrip("# ").startswith(heading)
        elif inside and line.startswith("|"):
            rows.append([c.strip() for c in line.strip().strip("|").split("|")])
        elif inside and rows:
            break
    return [r for r in rows[1:] if not set("".join(r)) <= set("-: ")]


def may_use(design: str) -> dict[str, set[str]]:
    """For each directory of src/, the directories it may include: the closure of the table in docs/design.md 3."""
    direct: dict[str, set[str]] = {}
    everything: set[str] = set()
    for row in table_rows(design, "3. Modules"):
        name = re.fullmatch(r"`src/(\w+)`", row[0])
        if not name or len(row) < 3:
            continue
        if row[-1] == "all":
            everything.add(name[1])
        direct[name[1]] = set() if row[-1] in ("–", "-", "all") else set(re.findall(r"\w+", row[-1]))
    for name in everything:
        direct[name] = set(direct)
    closed: dict[str, set[str]] = {}
    for name in direct:
        seen, todo = {name}, [name]
        while todo:
            for n in direct.get(todo.pop(), ()):
                if n not in seen:
                    seen.add(n)
                    todo.append(n)
        closed[name] = seen
    return closed


def check_arrows(files: dict[str, str], design: str) -> list[Finding]:
    table = may_use(design)
    out = []
    if not table:
        return [Finding("docs/design.md", 1, "arrows", "the table of section 3 was not found")]
    for path, text in files.items():
        parts = path.split("/")
        if parts[0] != "src" or len(parts) < 3 or not path.endswith(CODE):
            continue
        if parts[1] not in table:
            out.append(Finding(path, 1, "arrows", f"src/{parts[1]} is not in the table of docs/design.md 3"))
            continue
        allowed = table[parts[1]]
        if TEST_FILE.search(path):
            allowed = allowed | table.get("sim", set())
        for n, line in enumerate(text.split("\n"), 1):
            inc = re.match(r'\s*#\s*include\s*"(\w+)/', line)
            if inc and inc[1] in table and inc[1] not in allowed:
                out.append(Finding(path, n, "arrows", f"src/{parts[1]} may not include src/{inc[1]} (docs/design.md 3)"))
    return out


def check_asio(files: dict[str, str]) -> list[Finding]:
    out = []
    for path, text in files.items():
        if not path.startswith("src/") or path.startswith("src/net/") or not path.endswith(CODE):
            continue
        for n, line in enumerate(code_lines(text), 1):
            if re.search(r"boost/(asio|beast)|\basio::|\bbeast::", line):
                out.append(Finding(path, n, "asio", "Asio stays behind base::ByteStream and base::Network, in src/net"))
    return out


def check_seams(files: dict[str, str]) -> list[Finding]:
    out = []
    code = {p: code_lines(t) for p, t in files.items() if p.startswith("src/") and p.endswith(CODE)}
    for seam, (pattern, instead) in SEAMS.items():
        allowed = [a for (s, a) in ALLOWED if s == seam]
        for path, lines in code.items():
            if any(re.search(a, path) for a in allowed):
                continue
            for n, line in enumerate(lines, 1):
                if not line.lstrip().startswith("#") and re.search(pattern, line):
                    out.append(Finding(path, n, "seams", f"{seam}: use {instead}"))
    for seam, place in ALLOWED:
        if place.startswith("^") and place.endswith("$") and not any(re.search(place, p) for p in code):
            out.append(Finding("scripts/check-layout.py", 1, "seams", f"stale entry in ALLOWED: {seam} {place}"))
    return out


def check_wire(files: dict[str, str]) -> list[Finding]:
    owners: dict[str, list[str]] = {}
    for kind, names in WIRE.items():
        for name in names:
            owners.setdefault(name, []).append(kind)
    word = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, owners)) + r")(?!\w)")
    out = []
    for path, text in files.items():
        if not path.startswith("src/") or not path.endswith(CODE) or TEST_FILE.search(path) or path.startswith(WIRE_HOMES):
            continue
        for n, literal in string_literals(text):
            for hit in word.finditer(literal):
                kinds = owners[hit[1]]
                if path.startswith(tuple(f"src/engine/{kind}/" for kind in kinds)):
                    continue
                homes = " or ".join(f"src/engine/{kind}" for kind in kinds)
                out.append(Finding(path, n, "wire", f"{hit[1]} is a wire name of {', '.join(kinds)}: it belongs into {homes}"))
                break
    return out


def avoided_words(terminology: str) -> list[tuple[str, str]]:
    """(word to avoid, what to say) from the table below "Words to avoid"; several in a cell are parted by semicolons."""
    return [(w.strip(), row[1]) for row in table_rows(terminology, "Words to avoid") if len(row) >= 2
            for w in row[0].split(";") if w.strip()]


def check_words(files: dict[str, str], terminology: str) -> list[Finding]:
    words = avoided_words(terminology)
    if not words:
        return [Finding("TERMINOLOGY.md", 1, "words", 'the table "Words to avoid" was not found')]
    # A phrase may be broken over two lines, in a comment too.
    rules = [(re.compile(r"(?<![\w-])" + r"[\s/*#-]+".join(map(re.escape, re.split("[ -]", w))) + r"s?(?![\w-])", re.I), w, say)
             for w, say in words]
    out = []
    for path, text in files.items():
        docs = path.startswith("docs/") or ("/" not in path and path.endswith(".md")) or path.endswith("README.md")
        if path == "TERMINOLOGY.md" or path.startswith("tests/cases/") or not (docs or path.startswith("src/")):
            continue
        for pattern, word, say in rules:
            for hit in pattern.finditer(text):
                # The CamelCase form of a hyphenated word is a type's name ("PreTokenizer").
                if hit.group() == "".join(part.capitalize() for part in say.split("-")):
                    continue
                out.append(Finding(path, text.count("\n", 0, hit.start()) + 1, "words", f'say "{say}", not "{word}"'))
    return out


def check_readme(files: dict[str, str]) -> list[Finding]:
    out = []
    for name in sorted({p.split("/")[1] for p in files if p.startswith("src/") and p.count("/") > 1 and p.endswith(CODE)}):
        path = f"src/{name}/README.md"
        if path not in files:
            out.append(Finding(path, 1, "readme", "missing: what the directory owns, life of its main object, threads, tests"))
        elif files[path].count("\n") > README_LINES:
            out.append(Finding(path, README_LINES, "readme", f"longer than a screen ({README_LINES} lines)"))
    # clang-format takes any file it is given for C++: it turns "# title" into "#title" and tears tables apart.
    out += [Finding(path, 1, "readme", 'begins with "# " and a title') for path, text in files.items()
            if path.endswith("README.md") and not re.match(r"# \S", text)]
    return out


def check_places(files: dict[str, str]) -> list[Finding]:
    out = []
    for path, text in files.items():
        if path.startswith(PLACES_SKIP):
            continue
        for n, line in enumerate(text.split("\n"), 1):
            if hit := MACHINE_PATHS.search(line):
                out.append(Finding(path, n, "places", f"{hit[0]} is a path of one machine"))
            if hit := HOSTS.search(line):
                out.append(Finding(path, n, "places", f"{hit[0]}: name the package, not the host of its registry"))
    return out


def check_links(files: dict[str, str]) -> list[Finding]:
    places = set(files) | {str(d) for p in files for d in Path(p).parents}
    out = []
    for path, text in files.items():
        if not path.endswith(".md") or path.startswith("tests/cases/"):
            continue
        for n, line in enumerate(text.split("\n"), 1):
            for target in re.findall(r"\]\(([^)\s#]+)", re.sub(r"`[^`]*`", "", line)):
                if "://" in target or target.startswith("mailto:"):
                    continue
                if os.path.normpath(os.path.join(os.path.dirname(path), target)) not in places:
                    out.append(Finding(path, n, "links", f"{target} leads nowhere"))
    return out


def check(root: Path, paths: list[str] | None = None) -> list[Finding]:
    files = {p: read(root, p) for p in (tracked(root) if paths is None else paths)}
    design, terminology = files.get("docs/design.md", ""), files.get("TERMINOLOGY.md", "")
    found = (check_arrows(files, design) + check_asio(files) + check_seams(files) + check_wire(files)
             + check_words(files, terminology) + check_readme(files) + check_places(files) + check_links(files))
    return sorted(found, key=lambda f: (f.path, f.line, f.rule))


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    found = check(root)
    for f in found:
        print(f)
    print(f"check-layout: {len(found)} findings" if found else "check-layout: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
