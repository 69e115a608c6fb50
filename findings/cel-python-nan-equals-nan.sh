#!/usr/bin/env bash
# cel-python 0.5.0: NaN equals NaN, alone and in lists, and is still neither less nor greater than itself.
# The comparison that is handed to Python asks for identity or for the bits first; by the CEL specification it is false.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cel-python==0.5.0
cat > seen.py <<'PY'
import celpy
environment = celpy.Environment()
for text in ["0.0/0.0 == 0.0/0.0", "[0.0/0.0] == [0.0/0.0]", "0.0/0.0 != 0.0/0.0", "0.0/0.0 < 0.0/0.0"]:
    print(text, bool(environment.program(environment.compile(text)).evaluate({})))
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
0.0/0.0 == 0.0/0.0 True
[0.0/0.0] == [0.0/0.0] True
0.0/0.0 != 0.0/0.0 False
0.0/0.0 < 0.0/0.0 False
END
echo "as described"
