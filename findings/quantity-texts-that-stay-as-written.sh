#!/usr/bin/env bash
# k8s.io/apimachinery 0.37.2: String() of a quantity is its canonical form, but not for "+5", "5." and "1e+3", which stay as they were written.
# ".5" becomes 500m and "1024Mi" 1Gi. "1E" is 10^18 and "1E0" is 1: the letter is a suffix alone and an exponent before a digit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

func main() {
	for _, text := range []string{"+5", "5.", "1e+3", "05", ".5", "1024Mi", "1E", "1E0"} {
		quantity := resource.MustParse(text)
		fmt.Println(text, quantity.String(), quantity.Value())
	}
}
GO
go get k8s.io/apimachinery/pkg/api/resource@v0.37.2 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
+5 +5 5
5. 5. 5
1e+3 1e+3 1000
05 05 5
.5 500m 1
1024Mi 1Gi 1073741824
1E 1E 1000000000000000000
1E0 1E0 1
END
echo "as described"
