#!/usr/bin/env bash
# jmespath 1.1.0 (Python): 1 == true is false, but [1] == [true] is true, and a list of 1 contains true.
# Booleans are told from numbers at the top of a value only; within lists and maps Python's own comparison decides.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jmespath==1.1.0
cat > seen.py <<'PY'
import jmespath
for text in ["`1` == `true`", "`[1]` == `[true]`", "`{\"a\": 0}` == `{\"a\": false}`", "contains(`[1]`, `true`)"]:
    print(text, jmespath.search(text, None))
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
`1` == `true` False
`[1]` == `[true]` True
`{"a": 0}` == `{"a": false}` True
contains(`[1]`, `true`) True
END
echo "as described"
