#!/usr/bin/env bash
# cel-js 0.8.2: a field of the literal {} is {} itself, and so are its fields; of a variable that is empty it is nothing.
# {}.a.b == {} is true. cel-go answers "no such key".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts cel-js@0.8.2
cat > seen.mjs <<'JS'
import { evaluate } from "cel-js";
const ask = (text, variables) => { try { return JSON.stringify(evaluate(text, variables)) ?? "undefined"; } catch { return "error"; } };
console.log("{}.a", ask("{}.a", {}));
console.log("{}.a.b == {}", ask("{}.a.b == {}", {}));
console.log("x.a", ask("x.a", { x: {} }));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
{}.a {}
{}.a.b == {} true
x.a error
END
echo "as described"
