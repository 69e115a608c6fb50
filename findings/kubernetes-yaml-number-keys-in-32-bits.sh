#!/usr/bin/env bash
# sigs.k8s.io/yaml 1.6.0 (kubectl's): a key that YAML reads as a float is printed with 32 bits, and then names another number.
# 16777217.5 becomes "1.6777218e+07" and meets 16777218.5: one of two different keys is lost without an error, though the same text written twice is one.
# An integer key of 2^63 is an error, of 2^64 it is a float and fine; 1 and 1.0 are one key.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

func main() {
	for _, text := range []string{"3.141592653589793: x", "16777217.5: a\n16777218.5: b", "9223372036854775808: x", "18446744073709551616: x", "1: a\n1.0: b", "1: a\n1: b"} {
		json, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			fmt.Printf("%q error\n", text)
		} else {
			fmt.Printf("%q %s\n", text, json)
		}
	}
}
GO
go get sigs.k8s.io/yaml@v1.6.0 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"3.141592653589793: x" {"3.1415927":"x"}
"16777217.5: a\n16777218.5: b" {"1.6777218e+07":"b"}
"9223372036854775808: x" error
"18446744073709551616: x" {"1.8446744e+19":"x"}
"1: a\n1.0: b" {"1":"b"}
"1: a\n1: b" error
END
echo "as described"
