#!/usr/bin/env bash
# common-expression-language 0.10.0 (the Rust crate cel, from Python): || forgets an error when the other side is true, exists() does not.
# CEL says that exists() is an || over all elements, so both of these should be true; the macro stops at its first error, and with the
# list in the other order it is true.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check common-expression-language==0.10.0
cat > seen.py <<'PY'
import cel
for text in ["1/0 > 0 || 1/1 > 0", "[0, 1].exists(x, 1/x > 0)", "[1, 0].exists(x, 1/x > 0)", "[0, 1].all(x, 1/x > 5)"]:
    try: print(text, cel.evaluate(text, {}))
    except Exception: print(text, "error")
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
1/0 > 0 || 1/1 > 0 True
[0, 1].exists(x, 1/x > 0) error
[1, 0].exists(x, 1/x > 0) True
[0, 1].all(x, 1/x > 5) error
END
echo "as described"
