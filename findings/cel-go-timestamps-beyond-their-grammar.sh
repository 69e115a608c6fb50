#!/usr/bin/env bash
# cel-go 0.29.2: timestamp() takes an hour of one digit, a comma before the fraction and an offset of 24 hours, none of which RFC 3339 has,
# and getHours() takes the offset "99:99". What RFC 3339 has, a small t and z, and a leap second, are errors.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/google/cel-go/cel"
)

func main() {
	environment, _ := cel.NewEnv()
	for _, text := range []string{
		"string(timestamp('2024-01-01T0:00:00Z'))", "string(timestamp('2024-01-01T00:00:00,5Z'))", "string(timestamp('2024-01-01T00:00:00+24:00'))",
		"string(timestamp('2024-01-01t00:00:00z'))", "string(timestamp('2016-12-31T23:59:60Z'))", "string(timestamp('2024-01-01T00:00:00Z').getHours('99:99'))",
	} {
		ast, _ := environment.Compile(text)
		program, _ := environment.Program(ast)
		value, _, err := program.Eval(map[string]any{})
		if err != nil {
			fmt.Println(text, "error")
		} else {
			fmt.Println(text, value)
		}
	}
}
GO
go get github.com/google/cel-go/cel@v0.29.2 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
string(timestamp('2024-01-01T0:00:00Z')) 2024-01-01T00:00:00Z
string(timestamp('2024-01-01T00:00:00,5Z')) 2024-01-01T00:00:00.5Z
string(timestamp('2024-01-01T00:00:00+24:00')) 2024-01-01T00:00:00+24:00
string(timestamp('2024-01-01t00:00:00z')) error
string(timestamp('2016-12-31T23:59:60Z')) error
string(timestamp('2024-01-01T00:00:00Z').getHours('99:99')) 4
END
echo "as described"
