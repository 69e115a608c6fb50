#!/usr/bin/env bash
# cel-go 0.29.2: getMilliseconds() of a duration is all of it, of a timestamp the part within its second.
# The language definition says for both that it is the part within the second, and the official conformance data has 321 for a duration
# of 123.321456789 s; the engine that everybody takes for the reference says 123321.
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
	for _, text := range []string{"duration('123.321456789s').getMilliseconds()", "timestamp('2024-01-01T00:00:07.321Z').getMilliseconds()"} {
		ast, _ := environment.Compile(text)
		program, _ := environment.Program(ast)
		value, _, err := program.Eval(map[string]any{})
		fmt.Println(text, value, err)
	}
}
GO
go get github.com/google/cel-go/cel@v0.29.2 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
duration('123.321456789s').getMilliseconds() 123321 <nil>
timestamp('2024-01-01T00:00:07.321Z').getMilliseconds() 321 <nil>
END
echo "as described"
