#!/usr/bin/env bash
# @marcbachmann/cel-js 8.0.0: sums overflow with an error, but a negation or a conversion from double leaves 64 bits without one.
# -(-9223372036854775808) is 9223372036854775808, which no CEL int can be, and it is greater than the largest int.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @marcbachmann/cel-js@8.0.0
cat > seen.mjs <<'JS'
import { evaluate } from "@marcbachmann/cel-js";
const ask = (text) => { try { return String(evaluate(text, {})); } catch (error) { return `error: ${error.message.split(":")[0]}`; } };
for (const text of ["9223372036854775807 + 1", "-(-9223372036854775808)", "int(9.3e18)", "-(-9223372036854775808) > 9223372036854775807"]) {
  console.log(text, "->", ask(text));
}
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
9223372036854775807 + 1 -> error: integer overflow
-(-9223372036854775808) -> 9223372036854775808
int(9.3e18) -> 9300000000000000000
-(-9223372036854775808) > 9223372036854775807 -> true
END
echo "as described"
