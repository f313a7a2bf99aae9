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
