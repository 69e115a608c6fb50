#!/usr/bin/env bash
# cel-python 0.5.0: string(timestamp) leaves the fraction of a second out, so that timestamp(string(t)) == t is false for a t that has one.
# A nanosecond is lost before that: two timestamps that are one nanosecond apart are equal, and so are two durations.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cel-python==0.5.0
cat > seen.py <<'PY'
import celpy
environment = celpy.Environment()
for text in ["string(timestamp('2024-01-01T00:00:00.120Z'))",
             "timestamp(string(timestamp('2024-01-01T00:00:00.120Z'))) == timestamp('2024-01-01T00:00:00.120Z')",
             "timestamp('2024-01-01T00:00:00.000000001Z') == timestamp('2024-01-01T00:00:00Z')",
             "duration('1ns') == duration('2ns')"]:
    print(text, "->", str(environment.program(environment.compile(text)).evaluate({})))
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
string(timestamp('2024-01-01T00:00:00.120Z')) -> 2024-01-01T00:00:00Z
timestamp(string(timestamp('2024-01-01T00:00:00.120Z'))) == timestamp('2024-01-01T00:00:00.120Z') -> False
timestamp('2024-01-01T00:00:00.000000001Z') == timestamp('2024-01-01T00:00:00Z') -> True
duration('1ns') == duration('2ns') -> True
END
echo "as described"
