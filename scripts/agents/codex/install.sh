#!/usr/bin/env bash
# Installs the pinned Codex CLI, a program of its own without Node: scripts/agents/codex/install.sh DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: install.sh DIR}

command -v npm >/dev/null || {
  echo "codex/install.sh: npm is missing: install Node.js with npm, of any source" >&2
  exit 1
}
if cmp -s "$here/package-lock.json" "$folder/stamp"; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder"
cp "$here/package.json" "$here/package-lock.json" "$folder"
npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel error
test -x "$folder/node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex"
cp "$here/package-lock.json" "$folder/stamp"
