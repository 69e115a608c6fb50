#!/usr/bin/env bash
# cosign 3.1.2 imports an Ed25519 key and signs with it, and refuses its own signature.
# It signs in the pre-hashed form (Ed25519ph), and verifies the plain one. The same commands with a P-256 key verify. Images behave as files do.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"

GOBIN="$folder" CGO_ENABLED=0 go install github.com/sigstore/cosign/v3/cmd/cosign@v3.1.2 2> /dev/null
export COSIGN_PASSWORD=finding
printf 'hello' > file
openssl genpkey -algorithm ed25519 -out ed25519.pem 2> /dev/null
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p256.pem 2> /dev/null

for key in p256 ed25519; do
  ./cosign import-key-pair --key "$key.pem" --output-key-prefix "$key" > /dev/null 2>&1
  ./cosign sign-blob -y --key "$key.key" --tlog-upload=false --use-signing-config=false --bundle "$key.json" file > /dev/null 2>&1
  echo "$key signed"
  ./cosign verify-blob --key "$key.pub" --insecure-ignore-tlog --bundle "$key.json" file 2>&1 | grep -v WARNING | head -1 || true
done > seen

diff - seen <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
p256 signed
Verified OK
ed25519 signed
Error: failed to verify signature: message is missing artifact digest
END
echo "as described"
