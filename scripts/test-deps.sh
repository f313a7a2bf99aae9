#!/usr/bin/env bash
# Makes .venv with the pinned Python packages of the tests, .venv-dynamo and .venv-dynamo-1.4.1 with the real Dynamo frontend, and installs the real vocabularies and
# templates they compare against under models/. Does nothing where the inputs have not changed since the last time. Nothing it installs is ever committed.
set -euo pipefail
cd "$(dirname "$0")/.."

families=(qwen3 gpt-oss)

inputs_hash() {
  sha256sum "$@" | sha256sum | cut -d' ' -f1
}
# up_to_date STAMP FILE...: the stamp holds the hash of these files.
up_to_date() {
  local stamp=$1
  shift
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(inputs_hash "$@")" ]
}

python_inputs=(tests/requirements.txt scripts/test-deps.sh)
if ! up_to_date .venv/stamp "${python_inputs[@]}" || ! .venv/bin/python -c 'import pytest' 2>/dev/null; then
  echo "test-deps: making .venv"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "test-deps: needs Python 3.11 or newer" >&2
    exit 1
  }
  rm -rf .venv
  python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input -r tests/requirements.txt
  inputs_hash "${python_inputs[@]}" >.venv/stamp
fi

# dynamo_environment DIR WHEELS [RELEASE]
dynamo_environment() {
  local here=scripts/engines/dynamo
  local inputs=("$here/install.sh" "$here/$2" "$here/requirements.txt")
  if ! up_to_date "$1/stamp" "${inputs[@]}" || ! "$1/bin/python" -c 'import dynamo.llm' 2>/dev/null; then
    echo "test-deps: installing the Dynamo frontend into $1"
    "$here/install.sh" "$1" "${@:3}"
    inputs_hash "${inputs[@]}" >"$1/stamp"
  fi
}
dynamo_environment .venv-dynamo wheels.txt
dynamo_environment .venv-dynamo-1.4.1 wheels-1.4.1.txt 1.4.1

model_inputs=(scripts/models/install.py scripts/models/models.lock.json scripts/test-deps.sh)
if ! up_to_date models/stamp "${model_inputs[@]}" ||
  ! .venv/bin/python scripts/models/install.py --dest models --verify "${families[@]}" >/dev/null; then
  echo "test-deps: installing models: ${families[*]}"
  .venv/bin/python scripts/models/install.py --dest models "${families[@]}"
  inputs_hash "${model_inputs[@]}" >models/stamp
fi
echo "test-deps: ready"
