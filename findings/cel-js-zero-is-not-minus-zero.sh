#!/usr/bin/env bash
# cel-js 0.8.2: 0.0 == -0.0 is false, though neither is greater than the other; with 0 and -0 it is true.
# A value is compared by structural equality that tells the two zeros apart. In CEL, as in IEEE 754, they are equal.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts cel-js@0.8.2
cat > seen.mjs <<'JS'
import { evaluate } from "cel-js";
for (const text of ["0.0 == -0.0", "0.0 < -0.0", "0.0 > -0.0", "0 == -0", "1 - 1 == 0"]) console.log(text, evaluate(text, {}));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
0.0 == -0.0 false
0.0 < -0.0 false
0.0 > -0.0 false
0 == -0 true
1 - 1 == 0 true
END
echo "as described"
