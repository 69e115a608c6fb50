#!/usr/bin/env bash
# cel-python 0.5.0: [1, 2][-1] is the last element, as in Python. CEL has no negative index: cel-go answers "index out of bounds".
# An index beyond the other end is an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cel-python==0.5.0
cat > seen.py <<'PY'
import celpy
environment = celpy.Environment()
for text in ["[1, 2][-1]", "[1, 2][-2]", "[1, 2][-3]", "[1, 2][2]"]:
    try: print(text, environment.program(environment.compile(text)).evaluate({}))
    except celpy.CELEvalError: print(text, "error")
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
[1, 2][-1] 2
[1, 2][-2] 1
[1, 2][-3] error
[1, 2][2] error
END
echo "as described"
