#!/usr/bin/env bash
# json-as 1.6.0 (AssemblyScript): a number with a fraction or an exponent in a field of an integer type becomes another number, without an error.
# 1.5 is 85 and 1e3 is 633: each character counts as a digit, the point as -2 and the letter as 53. 300 in a u8 is 44. A field of type f64 is exact.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts assemblyscript@0.28.20 json-as@1.6.0
mkdir module && echo '{"type":"module"}' > module/package.json
cat > module/module.ts <<'TS'
import { JSON } from "json-as";
@json class Numbers { small: u8 = 0; whole: i32 = 0; any: f64 = 0; }
export function read(text: string): string {
  const numbers = JSON.parse<Numbers>(text);
  return numbers.small.toString() + " " + numbers.whole.toString() + " " + numbers.any.toString();
}
TS
npx --no-install asc module/module.ts -o module/module.wasm --transform json-as/transform --bindings esm --exportRuntime > compiled 2>&1 || { cat compiled >&2; exit 1; }
cat > seen.mjs <<'JS'
import { read } from "./module/module.js";
for (const text of ['{"whole":1.5}', '{"whole":1e3}', '{"small":300}', '{"any":1.5}']) console.log(text, "->", read(text));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
{"whole":1.5} -> 0 85 0.0
{"whole":1e3} -> 0 633 0.0
{"small":300} -> 44 0 0.0
{"any":1.5} -> 0 0 1.5
END
echo "as described"
