#!/usr/bin/env bash
# @jmespath-community/jmespath 1.3.0: // rounds down and % rounds toward zero, so quotient times divisor plus remainder is not the dividend.
# -7 // 2 is -4 and -7 % 2 is -1: -4 * 2 + -1 is -9.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @jmespath-community/jmespath@1.3.0
cat > seen.mjs <<'JS'
import { search } from "@jmespath-community/jmespath";
for (const text of ["a // b", "a % b", "(a // b) * b + (a % b)"]) console.log(text, search({ a: -7, b: 2 }, text));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
a // b -4
a % b -1
(a // b) * b + (a % b) -9
END
echo "as described"
