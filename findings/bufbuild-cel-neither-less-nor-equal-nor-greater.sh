#!/usr/bin/env bash
# @bufbuild/cel 0.6.1: an int and a double can be neither equal nor less nor greater, and neither is NaN.
# CEL orders the two number types on one line. Here equality is exact, but the order is asked after the int became a double:
# for 9007199254740993 and 9007199254740992.0 all of ==, < and > are false, and <= and >= are true.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @bufbuild/cel@0.6.1
cat > seen.mjs <<'JS'
import { run } from "@bufbuild/cel";
for (const operator of ["==", "<", ">", "<=", ">="]) {
  console.log(operator, run(`9007199254740993 ${operator} 9007199254740992.0`));
}
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
== false
< false
> false
<= true
>= true
END
echo "as described"
