"""What is wrong with a command line is said with what to do."""
import subprocess

import pytest

from programs import BINARY, MODEL


def run(*arguments, text: bytes = b"") -> tuple[int, str]:
    done = subprocess.run([BINARY, *map(str, arguments)], input=text, capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("arguments, code, said", [
    ([], 2, "no command given; verbatim --help lists them"),
    (["frob"], 2, 'there is no command "frob"'),
    (["encode", "--tokeniser", "x"], 2, 'encode does not take "--tokeniser"'),
    (["encode"], 2, "--tokenizer is required"),
    (["sim", "--tokenizer", MODEL, "--port", "99999"], 2, "not in range 0 to 65535"),
    (["sim", "--tokenizer", MODEL, "--fault", "nope=3"], 2, "expected the name of a fault: all, no_output_ids"),
    (["serve", "--engine", "here", "--tokenizer", MODEL], 2, "such as http://127.0.0.1:30000"),
    (["encode", "--tokenizer", "nowhere"], 1, "there is no nowhere/tokenizer.json"),
    (["parse", "--grammar", "x"], 1, "expected hermes"),
    (["frob", "--help"], 2, 'there is no command "frob"'),
    (["serve", "--engine", "http://127.0.0.1:7", "--tokenizer", MODEL, "--host", "0.0.0.0"], 2, "verbatim: --host 0.0.0.0: whoever"),
    (["serve", "--engine", "http://127.0.0.1:7", "--api-keys", "nowhere"], 2, "verbatim: --api-keys: can't open nowhere"),
    (["serve", "--engine", "http://127.0.0.1:7", "--engine-kind", "openai", "--store", "memory"], 2, "--engine-mode chat, responses or messages"),
    (["serve", "--engine", "http://127.0.0.1:7", "--engine-kind", "sglang", "--tokenizer", MODEL, "--store", "memory", "--record-dir", "/proc/x",
      "--port", "0"], 1, "verbatim: --record-dir: can't create directory /proc/x"),
    (["serve", "--engine", "http://127.0.0.1:7", "--tokenizer", MODEL, "--client-profile", "cursor"], 2,
     'verbatim: --client-profile: found "cursor", expected one of auto, none, claude-code, opencode'),
    (["serve", "--engine", "http://127.0.0.1:7", "--tokenizer", MODEL, "--client-profile-file", MODEL / "tokenizer_config.json"], 2,
     "profile file, version: missing"),
    (["store", "check", "--store", "sqlite:nowhere.db"], 1, "there is no store at nowhere.db; name it with --store sqlite:FILE or --data-dir"),
    (["store", "check", "--store", "memory"], 2, "a store in memory has no file"),
    (["serve", "--engine", "http://127.0.0.1:7", "--engine-kind", "sglang", "--tokenizer", MODEL, "--store", "memory", "--store-memory", "16"], 2, "--store-memory: only for --store sqlite"),
    (["store", "check", "--store", "sqlite:nowhere.db", "--data-dir", "x"], 2, "--data-dir: only for --store sqlite, found --store sqlite:nowhere.db"),
])
def test_a_wrong_command_line_says_what_to_do(arguments, code, said):
    found, stderr = run(*arguments)
    assert found == code and said in stderr, stderr


@pytest.mark.parametrize("command", ["audit", "export"])
def test_a_folder_without_records_proves_nothing(command, tmp_path):
    code, stderr = run(command, "--record-dir", tmp_path)
    assert code == 1 and "no record files" in stderr


def test_bytes_that_are_no_text_have_no_ids():
    code, stderr = run("encode", "--tokenizer", MODEL, text=b"a\xff")
    assert code == 1 and "UTF-8" in stderr


def test_ids_beyond_the_vocabulary_are_told():
    code, stderr = run("decode", "--tokenizer", MODEL, text=b"[9707, 999999]")
    assert code == 0 and "not in the vocabulary" in stderr


def doctor(tmp_path, text: str, *options, **environment) -> subprocess.CompletedProcess:
    """The command whose output shows which options it was run with."""
    path = tmp_path / "verbatim.toml"
    path.write_text(text)
    return subprocess.run([BINARY, "doctor", "--config", path, *options], capture_output=True, text=True, timeout=60, env=environment)


def test_options_stand_in_a_file_below_the_environment_and_flags(tmp_path):
    file = '[doctor]\nengine = "http://127.0.0.1:7"\n[serve]\nengine = "http://127.0.0.1:8"\nport = 1\n'
    assert "127.0.0.1:7" in doctor(tmp_path, file).stdout
    assert "127.0.0.1:5" in doctor(tmp_path, file, VERBATIM_ENGINE="http://127.0.0.1:5").stdout
    for option in (["--engine", "http://127.0.0.1:6"], ["--engine=http://127.0.0.1:6"]):
        assert "127.0.0.1:6" in doctor(tmp_path, file, *option, VERBATIM_ENGINE="http://127.0.0.1:5").stdout
    assert "127.0.0.1:8" in doctor(tmp_path, '[serve]\nengine = "http://127.0.0.1:8"\nport = 1\n').stdout, "what both know"
    (tmp_path / "named.toml").write_text('[doctor]\nengine = "http://127.0.0.1:7"\n')
    named = subprocess.run([BINARY, "doctor"], capture_output=True, text=True, env={"VERBATIM_CONFIG": str(tmp_path / "named.toml")})
    assert "127.0.0.1:7" in named.stdout


@pytest.mark.parametrize("text,says", [
    ('[doctor]\nengin = "x"\n', "verbatim.toml:2: [doctor] engin: doctor has no such option"),
    ("[doktor]\n", "[doktor]: there is no command of that name"),
    ('engine = "x"\n', "engine stands outside a table"),
    ('[doctor]\nengine = "x\n', "verbatim.toml:2"),
    ("[doctor]\nengine = {a = 1}\n", "expected a string"),
    ('[doctor]\nengine-kind = "vlm"\n', "vlm"),
    ('[doctor]\nconfig = "other.toml"\n', "no such option"),
], ids=["unknown key", "unknown table", "no table", "no TOML", "a table as value", "a bad value", "a file within a file"])
def test_a_bad_file_is_refused_with_the_place(tmp_path, text, says):
    refused = doctor(tmp_path, text)
    assert refused.returncode == 2 and says in refused.stderr, refused.stderr


def test_a_file_that_is_not_there_is_named(tmp_path):
    refused = subprocess.run([BINARY, "serve", "--config", tmp_path / "none.toml"], capture_output=True, text=True)
    assert refused.returncode == 2 and "none.toml" in refused.stderr


@pytest.mark.parametrize("text, options, looked_for", [
    ('[serve]\ndata-dir = "DIR/served"\n', [], "served/store.db"),
    ('[serve]\nstore = "sqlite:DIR/served.db"\nport = 1\n', [], "served.db"),
    ('[serve]\nstore = "sqlite:DIR/served.db"\n[store]\nstore = "sqlite:DIR/own.db"\n', [], "own.db"),
    ('[serve]\ndata-dir = "DIR/served"\n', ["--store", "sqlite:said.db"], "said.db"),
], ids=["its directory", "its file", "the command's own table", "a flag"])
@pytest.mark.parametrize("command", ["check", "migrate", "compact"])
def test_a_store_is_looked_after_where_the_server_keeps_it(tmp_path, command, text, options, looked_for):
    path = tmp_path / "verbatim.toml"
    path.write_text(text.replace("DIR", str(tmp_path)))
    for place, variables in ([["--config", path], {}], [[], {"VERBATIM_CONFIG": str(path)}]):
        done = subprocess.run([BINARY, "store", command, *place, *options], capture_output=True, text=True, env=variables)
        assert done.returncode == 1 and "there is no store at" in done.stderr and looked_for in done.stderr, done.stderr


@pytest.mark.parametrize("command", ["check", "migrate", "compact"])
def test_each_tool_of_a_store_shows_an_example(command):
    said = subprocess.run([BINARY, "store", command, "--help"], capture_output=True, text=True, timeout=60).stdout
    assert f"Example: verbatim store {command} --store sqlite:" in said and "Exit: 0" in said, said
    assert f"verbatim store {command} [OPTIONS]" in said, said
