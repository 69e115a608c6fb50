#!/usr/bin/env bash
# OPA 1.22.3: yaml.unmarshal reads on and yes as texts, as YAML 1.2, but 1_000 and 0b11 as numbers and 010 as 8, as YAML 1.1, and yaml.marshal quotes "yes".
# OPA 1.4.2 read on and yes as true.
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
	for _, text := range []string{`yaml.unmarshal("a: on")`, `yaml.unmarshal("a: 1_000")`, `yaml.unmarshal("a: 010")`, `yaml.unmarshal("a: 0b11")`, `yaml.unmarshal("a: 1:30")`, `yaml.marshal("yes")`} {
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
yaml.unmarshal("a: on") {"a":"on"}
yaml.unmarshal("a: 1_000") {"a":1000}
yaml.unmarshal("a: 010") {"a":8}
yaml.unmarshal("a: 0b11") {"a":3}
yaml.unmarshal("a: 1:30") {"a":"1:30"}
yaml.marshal("yes") "\"yes\"\n"
END
echo "as described"
