#!/usr/bin/env bash
# jmespath 1.1.0 (Python): to_number("nan") is NaN, "inf" is infinite and "1_0" is 10: texts that no JSON number has, and values that no JSON can carry.
# @jmespath-community/jmespath gives null for these three, and takes "0x10", which is null here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jmespath==1.1.0
cat > seen.py <<'PY'
import jmespath
for text in ["nan", "inf", "1_0", " 1", "0x10"]:
    print(repr(text), jmespath.search("to_number(text)", {"text": text}))
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
'nan' nan
'inf' inf
'1_0' 10
' 1' 1
'0x10' None
END
echo "as described"
