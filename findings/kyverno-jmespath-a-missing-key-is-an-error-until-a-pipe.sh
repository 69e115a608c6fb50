#!/usr/bin/env bash
# github.com/kyverno/go-jmespath v0.4.1-0.20231124160150-95e59c162877, the JMESPath of Kyverno's policies: a key that a map lacks is an error, where every other
# JMESPath answers null, but only on a plain path. Behind a pipe the same path answers null, and so it does where the parent is null, a text or an index too large.
# A comparison asks without an error, `&&` asks with one: `a.b`, `a | b` and `a.b == null` are three questions, and only one of them fails a rule.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"

	jmespath "github.com/kyverno/go-jmespath"
)

func main() {
	data := map[string]interface{}{"a": map[string]interface{}{"n": nil, "s": "text", "l": []interface{}{"x"}}}
	for _, query := range []string{"a.b", "a | b", "a.n.b", "a.s.b", "a.l[5].b", "length(a.l) == `1` && a.b", "a.b == `null`"} {
		found, err := jmespath.Search(query, data)
		fmt.Printf("%s: %v %v\n", query, found, err != nil)
	}
}
GO
go get github.com/kyverno/go-jmespath@v0.4.1-0.20231124160150-95e59c162877 2> /dev/null
go mod tidy 2> /dev/null
seen=$(go run .)
expected='a.b: <nil> true
a | b: <nil> false
a.n.b: <nil> false
a.s.b: <nil> false
a.l[5].b: <nil> false
length(a.l) == `1` && a.b: <nil> true
a.b == `null`: true false'
if [ "$seen" != "$expected" ]; then
  echo "the behaviour has changed:"
  echo "$seen"
  exit 1
fi
echo "seen: $(echo "$seen" | tr '\n' ';')"
