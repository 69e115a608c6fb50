#!/usr/bin/env bash
# common-expression-language 0.10.0 (the Rust crate cel, from Python): what follows the last unit of a duration is ignored.
# duration("1h30") is one hour, and so is duration("1h and a half"); cel-go answers "missing unit".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check common-expression-language==0.10.0
cat > seen.py <<'PY'
import cel
for text in ["1h30", "1h and a half", "1h30m", "30"]:
    try: print(text, "->", cel.evaluate(f"duration('{text}')", {}))
    except Exception: print(text, "-> error")
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
1h30 -> 1:00:00
1h and a half -> 1:00:00
1h30m -> 1:30:00
30 -> error
END
echo "as described"
