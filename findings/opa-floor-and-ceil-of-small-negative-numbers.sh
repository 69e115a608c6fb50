#!/usr/bin/env bash
# OPA 1.22.3: floor(-0.5) is 0 and ceil(-0.5) is 1: between -1 and 0 both are one too large. floor(-1.5) is -2, as it should be.
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
	for _, text := range []string{`floor(-0.5)`, `floor(-0.1)`, `floor(-1.5)`, `ceil(-0.5)`, `ceil(-1.5)`} {
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
floor(-0.5) 0
floor(-0.1) 0
floor(-1.5) -2
ceil(-0.5) 1
ceil(-1.5) -1
END
echo "as described"
