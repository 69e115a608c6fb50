#!/usr/bin/env bash
# @jmespath-community/jmespath 1.3.0: to_number() takes what JavaScript's Number() takes: "0x10" is 16, "0b11" is 3, and an empty text is 0.
# By the specification a text that is not a JSON number gives null. "Infinity" gives a value that JSON prints as null.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @jmespath-community/jmespath@1.3.0
cat > seen.mjs <<'JS'
import { search } from "@jmespath-community/jmespath";
for (const text of ["0x10", "0b11", "", " 12 ", "+5", "Infinity", "1_0"]) console.log(JSON.stringify(text), search({ text }, "to_number(text)"));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"0x10" 16
"0b11" 3
"" 0
" 12 " 12
"+5" 5
"Infinity" Infinity
"1_0" null
END
echo "as described"
