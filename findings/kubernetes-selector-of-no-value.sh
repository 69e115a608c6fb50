#!/usr/bin/env bash
# k8s.io/apimachinery 0.37.2: the label selectors 'a in ()', 'a in (,)' and 'a=' find labels with an empty value; 'a in (b,)' finds the empty value, too.
# The operators are names of labels where a name is expected: 'in in (notin)' is about the label in.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
)

func main() {
	for _, text := range []string{"a in ()", "a in (,)", "a in (b,)", "a=", "in", "in in (notin)", "a,"} {
		selector, err := labels.Parse(text)
		if err != nil {
			fmt.Printf("%q %v\n", text, err)
			continue
		}
		empty := selector.Matches(labels.Set{"a": ""})
		fmt.Printf("%q is %q, empty value %v, no label %v, in: notin %v\n", text, selector, empty, selector.Matches(labels.Set{}), selector.Matches(labels.Set{"in": "notin"}))
	}
}
GO
go get k8s.io/apimachinery/pkg/labels@v0.37.2 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"a in ()" is "a in ()", empty value true, no label false, in: notin false
"a in (,)" is "a in ()", empty value true, no label false, in: notin false
"a in (b,)" is "a in (,b)", empty value true, no label false, in: notin false
"a=" is "a=", empty value true, no label false, in: notin false
"in" is "in", empty value false, no label false, in: notin true
"in in (notin)" is "in in (notin)", empty value false, no label false, in: notin true
"a," found '', expected: identifier after ','
END
echo "as described"
