#!/usr/bin/env bash
# json-as 1.6.0 (AssemblyScript): the escape of a slash, which PHP's json_encode writes by default, is read as U+0000, in fields and in JSON.Value alike.
# All other escapes of RFC 8259 are right, among them the same character written with its number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts assemblyscript@0.28.20 json-as@1.6.0
mkdir module && echo '{"type":"module"}' > module/package.json
cat > module/module.ts <<'TS'
import { JSON } from "json-as";
@json class Named { name: string = ""; }
export function field(text: string): string { return JSON.parse<Named>(text).name; }
export function value(text: string): string { return JSON.parse<JSON.Value>(text).get<string>(); }
TS
npx --no-install asc module/module.ts -o module/module.wasm --transform json-as/transform --bindings esm --exportRuntime > compiled 2>&1 || { cat compiled >&2; exit 1; }
cat > seen.mjs <<'JS'
import { field, value } from "./module/module.js";
const units = (text) => [...text].map((unit) => unit.charCodeAt(0).toString(16)).join(" ");
for (const escape of ["\\/", "\\u002f", "\\n", "\\\\"]) console.log(escape, "->", units(field(`{"name":"a${escape}b"}`)), "|", units(value(`"a${escape}b"`)));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
\/ -> 61 0 62 | 61 0 62
\u002f -> 61 2f 62 | 61 2f 62
\n -> 61 a 62 | 61 a 62
\\ -> 61 5c 62 | 61 5c 62
END
echo "as described"
