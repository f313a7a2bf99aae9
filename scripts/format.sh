#!/usr/bin/env bash
# Formats the C++ sources with clang-format-19; with --check it changes nothing and fails on the first difference.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc')
case "${1:-}" in
  --check) clang-format-19 --dry-run -Werror --ferror-limit=3 "${files[@]}" ;;
  "") clang-format-19 -i "${files[@]}" ;;
  *) echo "format: unknown option $1 (--check or nothing)" >&2 && exit 2 ;;
esac
