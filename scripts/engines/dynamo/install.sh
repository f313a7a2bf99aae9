#!/usr/bin/env bash
# Installs the pinned Dynamo frontend into a Python environment of its own: scripts/engines/dynamo/install.sh DIR [1.4.1]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:?usage: install.sh DIR [1.4.1]}
wheels=$here/wheels${2:+-$2}.txt
[ -f "$wheels" ] || {
  echo "install.sh: no release $2: there is no $wheels" >&2
  exit 1
}

rm -rf "$venv"
python3 -m venv "$venv"
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps)
"${pip[@]}" --require-hashes -r "$wheels"
"${pip[@]}" -r "$here/requirements.txt"
"$venv/bin/python" -c 'import dynamo.frontend, dynamo.llm, dynamo.runtime'
