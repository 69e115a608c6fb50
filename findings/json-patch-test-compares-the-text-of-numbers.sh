#!/usr/bin/env bash
# gopkg.in/evanphx/json-patch.v4 4.13.0 (the API server's): "test" compares numbers by how they are written, and takes null for a member that is absent.
# 1 and 1.0 are different, and so are 100 and 1e2, though RFC 6902 says numerically equal; {"op":"test","path":"/b","value":null} and one without
# any value pass where there is no /b.
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
	for _, operation := range []string{`"path":"/a","value":100`, `"path":"/a","value":100.0`, `"path":"/a","value":1e2`, `"path":"/b","value":null`, `"path":"/b"`} {
		patch, _ := jsonpatch.DecodePatch([]byte(`[{"op":"test",` + operation + "}]"))
		_, err := patch.Apply([]byte(`{"a":100}`))
		fmt.Println(operation, err == nil)
	}
}
GO
go get gopkg.in/evanphx/json-patch.v4@v4.13.0 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"path":"/a","value":100 true
"path":"/a","value":100.0 false
"path":"/a","value":1e2 false
"path":"/b","value":null true
"path":"/b" true
END
echo "as described"
