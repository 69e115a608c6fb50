#!/usr/bin/env bash
# gopkg.in/evanphx/json-patch.v4 4.13.0 (the API server's): the index -1 is one place for "replace" and another for "add".
# "replace" and "remove" at /a/-1 change the last element. "add" puts its value behind the last one, not before it, as "-" does.
# RFC 6902 has no negative index; this is on unless SupportNegativeIndices is set to false.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

func main() {
	for _, operation := range []string{`"op":"replace","path":"/a/-1","value":9`, `"op":"add","path":"/a/-1","value":9`, `"op":"add","path":"/a/-2","value":9`, `"op":"remove","path":"/a/-1"`} {
		patch, _ := jsonpatch.DecodePatch([]byte("[{" + operation + "}]"))
		changed, err := patch.Apply([]byte(`{"a":[1,2,3]}`))
		fmt.Println(operation, string(changed), err)
	}
}
GO
go get gopkg.in/evanphx/json-patch.v4@v4.13.0 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"op":"replace","path":"/a/-1","value":9 {"a":[1,2,9]} <nil>
"op":"add","path":"/a/-1","value":9 {"a":[1,2,3,9]} <nil>
"op":"add","path":"/a/-2","value":9 {"a":[1,2,9,3]} <nil>
"op":"remove","path":"/a/-1" {"a":[1,2]} <nil>
END
echo "as described"
