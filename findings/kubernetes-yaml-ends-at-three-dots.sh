#!/usr/bin/env bash
# k8s.io/apimachinery 0.37.2 (kubectl's reader of files): what follows a line "..." is left out, up to the next "---", without an error.
# In YAML three dots end a document, and the next one needs no "---". The reader cuts files at "---" alone and takes of each piece the first document.
# A comment behind "---" is fine, and anything else there is an error, though YAML allows a document to begin on that line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	for _, text := range []string{"a: 1\n...\nb: 2\n---\nc: 3\n", "a: 1\n--- # more\nb: 2\n", "a: 1\n--- {b: 2}\n"} {
		decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
		fmt.Printf("%q", text)
		for {
			var value map[string]any
			err := decoder.Decode(&value)
			if err == io.EOF {
				break
			}
			if err != nil {
				fmt.Print(" error")
				break
			}
			fmt.Print(" ", value)
		}
		fmt.Println()
	}
}
GO
go get k8s.io/apimachinery/pkg/util/yaml@v0.37.2 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
"a: 1\n...\nb: 2\n---\nc: 3\n" map[a:1] map[c:3]
"a: 1\n--- # more\nb: 2\n" map[a:1] map[b:2]
"a: 1\n--- {b: 2}\n" error
END
echo "as described"
