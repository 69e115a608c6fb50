#!/usr/bin/env bash
# Go 1.26's regexp knows properties by their long names, in any case and with spaces (\p{Letter}, \p{gr eek}, \p{ASCII}), and takes one group name twice.
# re2js 2.10.0, a port of the same RE2, refuses all of these, with the text of Go's own error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts re2js@2.10.0
cat > port.mjs <<'JS'
import { RE2JS } from "re2js";

for (const text of ["\\p{Greek}", "\\p{greek}", "\\p{gr eek}", "\\p{Letter}", "\\p{ASCII}", "(?P<a>x)|(?P<a>y)"]) {
  try {
    RE2JS.compile(text);
    console.log(text, "taken");
  } catch (error) {
    console.log(text, error.message);
  }
}
JS
node port.mjs > seen

go mod init finding 2> /dev/null
go mod edit -go=1.26 -toolchain=go1.26.8
cat > main.go <<'GO'
package main

import (
	"fmt"
	"regexp"
)

func main() {
	for _, text := range []string{`\p{Greek}`, `\p{greek}`, `\p{gr eek}`, `\p{Letter}`, `\p{ASCII}`, `(?P<a>x)|(?P<a>y)`} {
		_, err := regexp.Compile(text)
		fmt.Println(text, err)
	}
}
GO
go run . >> seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
\p{Greek} taken
\p{greek} error parsing regexp: invalid character class range: `\p{greek}`
\p{gr eek} error parsing regexp: invalid character class range: `\p{gr eek}`
\p{Letter} error parsing regexp: invalid character class range: `\p{Letter}`
\p{ASCII} error parsing regexp: invalid character class range: `\p{ASCII}`
(?P<a>x)|(?P<a>y) error parsing regexp: duplicate capture group name: `a`
\p{Greek} <nil>
\p{greek} <nil>
\p{gr eek} <nil>
\p{Letter} <nil>
\p{ASCII} <nil>
(?P<a>x)|(?P<a>y) <nil>
END
echo "as described"
