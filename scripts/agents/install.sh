#!/usr/bin/env bash
# Installs a pinned agent or SDK with npm, without running scripts of packages: scripts/agents/install.sh NAME DIR
# NAME is a folder beside this script. Does nothing where DIR holds it already.
set -euo pipefail
[ $# -eq 2 ] || {
  echo "usage: install.sh NAME DIR" >&2
  exit 2
}
name=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)/$name
# What is there when it was installed.
case "$name" in
  codex) made=@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex ;;
  openai-node) made=openai/index.mjs ;;
  opencode) made=opencode-linux-x64-baseline/bin/opencode ;;
  *) echo "agents/install.sh: no agent \"$name\": expected codex, openai-node or opencode" >&2 && exit 2 ;;
esac

command -v npm >/dev/null || {
  echo "agents/install.sh: npm is missing: install Node.js with npm, of any source" >&2
  exit 1
}
if cmp -s "$here/package-lock.json" "$folder/stamp"; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder"
cp "$here/package.json" "$here/package-lock.json" "$folder"
npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel error
# What is a program has to run.
[ "$name" = openai-node ] || test -x "$folder/node_modules/$made"
test -e "$folder/node_modules/$made"
cp "$here/package-lock.json" "$folder/stamp"
