#!/usr/bin/env bash
# rfc6902 5.4.0: a JSON Pointer into an array reaches the properties of JavaScript's arrays.
# "test" of /a/length is fulfilled by the number of elements, and "replace" at /a/- reports success while the printed document stays as it was:
# the value stands at a property that JSON does not print.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts rfc6902@5.4.0
cat > seen.mjs <<'JS'
import { applyPatch } from "rfc6902";
for (const operation of [{ op: "test", path: "/a/length", value: 3 }, { op: "replace", path: "/a/-", value: 9 }, { op: "replace", path: "/a/3", value: 9 }]) {
  const document = { a: [1, 2, 3] };
  const [error] = applyPatch(document, [operation]);
  console.log(operation.op, operation.path, error === null ? "done" : error.name, JSON.stringify(document), Object.keys(document.a).join());
}
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
test /a/length done {"a":[1,2,3]} 0,1,2
replace /a/- done {"a":[1,2,3]} 0,1,2,-
replace /a/3 MissingError {"a":[1,2,3]} 0,1,2
END
echo "as described"
