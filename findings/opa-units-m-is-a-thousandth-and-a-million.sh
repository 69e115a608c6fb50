#!/usr/bin/env bash
# OPA 1.22.3: the suffix m is a thousandth for units.parse and a million for units.parse_bytes, while k and K are a thousand for both.
# Kubernetes' quantities have m for a thousandth and no K. units.parse_bytes takes quotes around the text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/open-policy-agent/opa/v1/rego"
)

func main() {
	for _, text := range []string{`units.parse("100m")`, `units.parse_bytes("100m")`, `units.parse("1k")`, `units.parse("1K")`, `units.parse_bytes("\"1K\"")`, `units.parse("1e3")`, `units.parse("1n")`} {
		results, err := rego.New(rego.Query("x := " + text)).Eval(context.Background())
		if err != nil || len(results) == 0 {
			fmt.Println(text, "undefined")
			continue
		}
		value, _ := json.Marshal(results[0].Bindings["x"])
		fmt.Println(text, string(value))
	}
}
GO
go get github.com/open-policy-agent/opa/v1/rego@v1.22.3 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
units.parse("100m") 0.1000000000
units.parse_bytes("100m") 100000000
units.parse("1k") 1000
units.parse("1K") 1000
units.parse_bytes("\"1K\"") 1000
units.parse("1e3") 1000
units.parse("1n") undefined
END
echo "as described"
