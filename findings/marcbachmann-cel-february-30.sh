#!/usr/bin/env bash
# @marcbachmann/cel-js 8.0.0: a timestamp of a day that no calendar has becomes another day.
# timestamp("2024-02-30T00:00:00Z") is the first of March, and 24:00:00 is the next day; cel-go answers both with an error.
# A timestamp without a zone, which JavaScript's Date would take as local time, is an error in both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @marcbachmann/cel-js@8.0.0
cat > seen.mjs <<'JS'
import { evaluate } from "@marcbachmann/cel-js";
for (const text of ["2024-02-30T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00"]) {
  let seen;
  try { seen = evaluate(`timestamp("${text}")`, {}).toISOString(); } catch { seen = "error"; }
  console.log(text, "->", seen);
}
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
2024-02-30T00:00:00Z -> 2024-03-01T00:00:00.000Z
2024-01-01T24:00:00Z -> 2024-01-02T00:00:00.000Z
2024-01-01T00:00:00 -> error
END
echo "as described"
