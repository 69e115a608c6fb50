#!/usr/bin/env bash
# k8s.io/kube-openapi (with Kubernetes 1.37): the format duration finds a number and the beginning of a unit anywhere in a text: "3 days ago" and "-3 days" are
# 72 hours to come, "5 microns" are 5 microseconds, "1 week 2 days" is one value.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

func main() {
	for _, text := range []string{"3 days ago", "1 week 2 days", "1d12h", "5 minutes", "5 microns", "-3 days", "1 banana"} {
		value, err := strfmt.ParseDuration(text)
		fmt.Printf("%q %v %v %v\n", text, value, err, strfmt.Default.Validates("duration", text))
	}
}
GO
go get k8s.io/kube-openapi/pkg/validation/strfmt@v0.0.0-20260721132016-d427ff9ee9ad 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"3 days ago" 72h0m0s <nil> true
"1 week 2 days" 216h0m0s <nil> true
"1d12h" 36h0m0s <nil> true
"5 minutes" 5m0s <nil> true
"5 microns" 5µs <nil> true
"-3 days" 72h0m0s <nil> true
"1 banana" 0s unable to parse 1 banana as duration false
END
echo "as described"
