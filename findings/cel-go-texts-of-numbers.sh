#!/usr/bin/env bash
# cel-go 0.29.2: double() takes "1_0" (it is 10), "0x1p4" (16) and "infinity"; int() takes none of the like, but a plus sign, which uint() refuses.
# Each goes to another function of Go's strconv, and each of those has a grammar of its own.
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
	for _, text := range []string{"double('1_0')", "int('1_0')", "double('0x1p4')", "int('0x10')", "double('infinity')", "int('+1')", "uint('+1')"} {
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
double('1_0') 10
int('1_0') error
double('0x1p4') 16
int('0x10') error
double('infinity') +Inf
int('+1') 1
uint('+1') error
END
echo "as described"
