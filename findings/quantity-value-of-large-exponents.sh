#!/usr/bin/env bash
# k8s.io/apimachinery 0.37.2: Value() of 1e19 is 0, of 9223372036854775808 it is the smallest negative number, without an error.
# AsInt64() says which fit. MilliValue() of 1e18 is 0, and of one exbibyte, a size that fits, it is the smallest negative number.
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
	for _, text := range []string{"1e18", "1e19", "9223372036854775808", "1Ei"} {
		quantity := resource.MustParse(text)
		_, fits := quantity.AsInt64()
		fmt.Println(text, quantity.Value(), quantity.MilliValue(), fits)
	}
}
GO
go get k8s.io/apimachinery/pkg/api/resource@v0.37.2 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
1e18 1000000000000000000 0 true
1e19 0 0 false
9223372036854775808 -9223372036854775808 0 false
1Ei 1152921504606846976 -9223372036854775808 false
END
echo "as described"
