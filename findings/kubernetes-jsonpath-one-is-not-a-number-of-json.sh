#!/usr/bin/env bash
# k8s.io/client-go 0.37.2: a JSONPath filter of kubectl that compares a number of JSON with 1 is an error, incompatible types; with 1.0 it works.
# A literal without a point is an integer, numbers that Go reads from JSON are doubles, and no comparison, not even ==, converts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/client-go/util/jsonpath"
)

func main() {
	var data any
	if err := json.Unmarshal([]byte(`{"items":[{"name":"x","v":1},{"name":"y","v":0}]}`), &data); err != nil {
		panic(err)
	}
	for _, text := range []string{"{.items[?(@.v==1)].name}", "{.items[?(@.v>0)].name}", "{.items[?(@.v>0.0)].name}", "{.items[?(@.v>=1.0)].name}"} {
		path := jsonpath.New("finding")
		if err := path.Parse(text); err != nil {
			panic(err)
		}
		var found bytes.Buffer
		err := path.Execute(&found, data)
		fmt.Printf("%s %q %v\n", text, found.String(), err)
	}
}
GO
go get k8s.io/client-go/util/jsonpath@v0.37.2 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
{.items[?(@.v==1)].name} "" incompatible types for comparison
{.items[?(@.v>0)].name} "" incompatible types for comparison
{.items[?(@.v>0.0)].name} "x" <nil>
{.items[?(@.v>=1.0)].name} "x" <nil>
END
echo "as described"
