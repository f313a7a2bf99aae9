#!/usr/bin/env bash
# Installs miles' session server into a Python environment of its own: scripts/peers/miles/install.sh DIR
# Does nothing where DIR holds it already. 60 MB to fetch; only measurements ask for it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:?usage: install.sh DIR}

wanted=$(cat "$here/install.sh" "$here/wheels.txt" "$here/requirements.txt" | sha256sum | cut -d' ' -f1)
if [ -f "$venv/stamp" ] && [ "$(cat "$venv/stamp")" = "$wanted" ]; then exit 0; fi
rm -rf "$venv"
python3 -m venv "$venv"
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps)
"${pip[@]}" --require-hashes -r "$here/wheels.txt"
"${pip[@]}" -r "$here/requirements.txt"
echo "$wanted" >"$venv/stamp"
