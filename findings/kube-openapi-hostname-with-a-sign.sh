#!/usr/bin/env bash
# k8s.io/kube-openapi (with Kubernetes 1.37): the format hostname takes abc= and a+b, though not a_b; ipv4 and cidr take 01.2.3.4, which the net package
# of the same Go refuses; uri takes a path without a scheme.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"
	"net"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

func main() {
	for _, each := range [][2]string{{"hostname", "abc="}, {"hostname", "a=b"}, {"hostname", "a+b"}, {"hostname", "a_b"}, {"hostname", "a/b"}, {"ipv4", "01.2.3.4"}, {"cidr", "01.2.3.4/8"}, {"cidr", "1.2.3.4/08"}, {"uri", "/x"}, {"uri", "//x"}, {"uri", "x"}} {
		fmt.Println(each[0], each[1], strfmt.Default.Validates(each[0], each[1]))
	}
	fmt.Println("net.ParseIP", net.ParseIP("01.2.3.4"))
}
GO
go get k8s.io/kube-openapi/pkg/validation/strfmt@v0.0.0-20260721132016-d427ff9ee9ad 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
hostname abc= true
hostname a=b true
hostname a+b true
hostname a_b false
hostname a/b false
ipv4 01.2.3.4 true
cidr 01.2.3.4/8 true
cidr 1.2.3.4/08 true
uri /x true
uri //x true
uri x false
net.ParseIP <nil>
END
echo "as described"
