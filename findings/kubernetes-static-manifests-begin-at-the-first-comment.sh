#!/usr/bin/env bash
# k8s.io/apiserver 0.37.2: in a directory of static manifests a comment before the first `---` is a document of its own, which has no kind.
# `kubectl apply` takes such a file: a licence above the separator is how many generators begin one. An API server that reads it at its start ends,
# and one that runs goes on with what it had. The same comment below the separator, or no separator at all, is no problem.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

go mod init finding 2> /dev/null
cat > main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/manifest/loader"
)

const configuration = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard.static.k8s.io}
`

func main() {
	scheme := runtime.NewScheme()
	if err := admissionregistration.AddToScheme(scheme); err != nil {
		panic(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	accept := func(object runtime.Object) ([]*admissionregistration.ValidatingWebhookConfiguration, error) {
		return []*admissionregistration.ValidatingWebhookConfiguration{object.(*admissionregistration.ValidatingWebhookConfiguration)}, nil
	}
	for _, text := range []string{configuration, "# licence\n" + configuration, "---\n# licence\n" + configuration, "# licence\n---\n" + configuration} {
		directory, _ := os.MkdirTemp(".", "manifests")
		if err := os.WriteFile(filepath.Join(directory, "guard.yaml"), []byte(text), 0o600); err != nil {
			panic(err)
		}
		found, _, err := loader.LoadManifests(directory, decoder, accept)
		fmt.Println(len(found), err != nil && strings.Contains(err.Error(), "Object 'Kind' is missing"))
	}
}
GO
go get k8s.io/apiserver@v0.37.2 k8s.io/api@v0.37.2 k8s.io/apimachinery@v0.37.2 2> /dev/null
go mod tidy 2> /dev/null
go run . > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
1 false
1 false
1 false
0 true
END
echo "as described"
