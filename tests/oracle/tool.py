"""Talks to tokenizer_oracle_tool; the operations are described in tokenizer_tool.cc."""
from __future__ import annotations

import array
import struct
import subprocess
from pathlib import Path


class Tool:
    def __init__(self, binary: Path, model: Path, *arguments: str):
        self.process = subprocess.Popen([str(binary), str(model), *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> "Tool":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()

    def send(self, operation: str, text: bytes = b"", numbers=()) -> None:
        self.process.stdin.write(operation.encode() + struct.pack("<I", len(numbers)) + array.array("I", numbers).tobytes()
                                 + struct.pack("<I", len(text)) + text)
        self.process.stdin.flush()

    def read(self, size: int) -> bytes:
        got = self.process.stdout.read(size)
        if len(got) != size:
            raise SystemExit(f"the tool stopped (exit code {self.process.wait()})")
        return got

    def read_numbers(self) -> list[int]:
        numbers = array.array("I")
        numbers.frombytes(self.read(4 * struct.unpack("<I", self.read(4))[0]))
        return numbers.tolist()

    def read_bytes(self) -> bytes:
        return self.read(struct.unpack("<I", self.read(4))[0])

    def numbers(self, operation: str, text: bytes = b"", numbers=()) -> list[int]:
        self.send(operation, text, numbers)
        return self.read_numbers()

    def bytes(self, operation: str, text: bytes = b"", numbers=()) -> bytes:
        self.send(operation, text, numbers)
        return self.read_bytes()

    def encode(self, text: str) -> list[int]:
        return self.numbers("e", text.encode())
