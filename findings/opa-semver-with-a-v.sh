#!/usr/bin/env bash
# OPA 1.22.3: semver.is_valid takes "v1.0.0", which Semantic Versioning 2.0.0 names as not a semantic version, and not "1.0". OPA 1.4.2 refuses it.
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
	for _, text := range []string{`semver.is_valid("v1.0.0")`, `semver.compare("v1.0.0", "1.0.0")`, `semver.is_valid("1.0")`, `semver.is_valid("V1.0.0")`} {
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
semver.is_valid("v1.0.0") true
semver.compare("v1.0.0", "1.0.0") 0
semver.is_valid("1.0") false
semver.is_valid("V1.0.0") false
END
echo "as described"
