#!/usr/bin/env bash
# @bufbuild/cel 0.6.1: int("") is 0, int(" 7") is 7, and int("0x1f") is 31; cel-go answers each with an error.
# The text goes to JavaScript's BigInt, which takes white space, an empty text and other bases.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @bufbuild/cel@0.6.1
cat > seen.mjs <<'JS'
import { isCelError, run } from "@bufbuild/cel";
for (const text of ["", " 7", "0x1f", "+7"]) {
  const value = run(`int("${text}")`);
  console.log(JSON.stringify(text), isCelError(value) ? "error" : String(value));
}
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"" 0
" 7" 7
"0x1f" 31
"+7" 7
END
echo "as described"
