#!/usr/bin/env bash
# Records tests/cassettes/vllm anew, from a real vLLM on the CPU that answers by a script, without a GPU:
#
#   scripts/record-vllm-cassettes.sh
#
# Needs make build and make test-deps; installs vLLM into .venv-vllm where it is not there (6 GB), and boots it, which takes minutes. What stands in
# tests/cassettes is replaced when the new recordings are whole, valid, and kept the word they were to remember; if anything fails it stays.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/engines/vllm/install.sh .venv-vllm
PYTHONPATH=scripts/engines .venv/bin/python scripts/engines/vllm/record_cassettes.py tests/cassettes/vllm
