#!/usr/bin/env bash
# smol-toml 1.9.1: the date 1979-02-30 is read as the second of March; 1979-02-32 and the time 24:00:00 are errors.
# TOML asks for days that the calendar has.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts smol-toml@1.9.1
cat > seen.mjs <<'JS'
import { parse } from "smol-toml";
for (const text of ["1979-02-30", "1979-02-32", "1979-04-31T00:00:00Z", "24:00:00"]) {
  let seen;
  try { seen = parse(`a = ${text}`).a.toISOString(); } catch { seen = "error"; }
  console.log(text, "->", seen);
}
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
1979-02-30 -> 1979-03-02
1979-02-32 -> error
1979-04-31T00:00:00Z -> 1979-05-01T00:00:00.000Z
24:00:00 -> error
END
echo "as described"
