#!/usr/bin/env bash
# @sigstore/verify 3.1.1: a bundle of cosign 3.1.2 with an entry of Rekor 2 is refused: digest mismatch. cosign logs a DSSE envelope as a hashedrekord of the bytes
# that are signed (the pre-authentication encoding); the library compares the entry with the hash of the payload alone. With a comparison with these
# bytes everything else of the bundle is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts @sigstore/verify@3.1.1 @sigstore/bundle@4.0.0 @sigstore/protobuf-specs@0.5.2
cat > bundle.json <<'JSON'
{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "verificationMaterial": {"publicKey": {"hint": "qg2ESj2i121UhXneuPbjnLhvjBnYwHhiuopg7fulfXk="}, "tlogEntries": [{"logIndex": "1", "logId": {"keyId": "xMt6TC8AvImRTu2miMzNcQMXpxRX17nza0Lp/fQWWQc="}, "kindVersion": {"kind": "hashedrekord", "version": "0.0.2"}, "inclusionProof": {"logIndex": "1", "rootHash": "0pHtSmWm3mPjF7VKIkGkFI/JbfcqIDuwtQRYxKxmDik=", "treeSize": "2", "hashes": ["V4dVGOJSWOKbc/WjAuLQxOBj0Q7ckEPBlukAz8oAtO0="], "checkpoint": {"envelope": "rekor.test\n2\n0pHtSmWm3mPjF7VKIkGkFI/JbfcqIDuwtQRYxKxmDik=\n\n\u2014 rekor.test xMt6TEx4GGMIhcMOAf0ezsYorFpzB9UG1gQ3IFMW8jxSbCvGHOqE8nmImXXlVyDJFdMOizLHfAhnh7zjUYiiB91A+gQ=\n"}}, "canonicalizedBody": "eyJhcGlWZXJzaW9uIjoiMC4wLjIiLCJraW5kIjoiaGFzaGVkcmVrb3JkIiwic3BlYyI6eyJoYXNoZWRSZWtvcmRWMDAyIjp7ImRhdGEiOnsiYWxnb3JpdGhtIjoiU0hBMl8yNTYiLCJkaWdlc3QiOiJNM3MvUW5RL29aaUphSUV3czNsUVMrRllXZkwvT0QvZXA2M1lURnBhSWpFPSJ9LCJzaWduYXR1cmUiOnsiY29udGVudCI6Ik1FUUNJRUhQR21USHF2YXZwYi9KOWVIVWg1RzE3bStFZ2Vpd1NRWk05MWI1ZkxJREFpQmRodHlZcDllNndNNDlZcXBoczFobUNaY1MwTmwxL20vcE1aL3V3U1hyTlE9PSIsInZlcmlmaWVyIjp7ImtleURldGFpbHMiOiJQS0lYX0VDRFNBX1AyNTZfU0hBXzI1NiIsInB1YmxpY0tleSI6eyJyYXdCeXRlcyI6Ik1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdBRUVjYkx5WDFpdWVDQUhET0tWOFdUMkhLNHlaaXdjdkRVUXprblkrdFBra0Y1ejA1OVJQZTBlcFpiSnAzeGljY2wvNEdpemJrM0NFVTB4TUk1aUZrZWp3PT0ifX19fX19"}]}, "dsseEnvelope": {"payload": "eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCJzdWJqZWN0IjpbeyJkaWdlc3QiOnsic2hhMjU2IjoiMTJhZTZkMjExMTNhZjc1YmRmNDRhYWU4ODNiNmU4MmI2OTFlMGRhYTQ4MDA0OGQ3ODgwOWIzY2M2YzMxYjgzMSJ9LCJhbm5vdGF0aW9ucyI6e319XSwicHJlZGljYXRlVHlwZSI6Imh0dHBzOi8vc2lnc3RvcmUuZGV2L2Nvc2lnbi9zaWduL3YxIiwicHJlZGljYXRlIjp7fX0=", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "MEQCIEHPGmTHqvavpb/J9eHUh5G17m+EgeiwSQZM91b5fLIDAiBdhtyYp9e6wM49Yqphs1hmCZcS0Nl1/m/pMZ/uwSXrNQ=="}]}}
JSON
cat > root.json <<'JSON'
{"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1", "tlogs": [{"baseUrl": "https://rekor.test", "hashAlgorithm": "SHA2_256", "publicKey": {"rawBytes": "MCowBQYDK2VwAyEAu4Wjt1mt1XEDQ9wdmJeoVD47JecI8BXO9c1qquxM6Y0=", "keyDetails": "PKIX_ED25519", "validFor": {"start": "2020-01-01T00:00:00Z"}}, "logId": {"keyId": "xMt6TC8AvImRTu2miMzNcQMXpxRX17nza0Lp/fQWWQc="}}], "ctlogs": [], "certificateAuthorities": [], "timestampAuthorities": []}
JSON
cat > seen.mjs <<'JS'
import { createHash, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { bundleFromJSON } from "@sigstore/bundle";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";

const json = (name) => JSON.parse(readFileSync(name, "utf8"));
const publicKey = createPublicKey(`-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEcbLyX1iueCAHDOKV8WT2HK4yZiw
cvDUQzknY+tPkkF5z059RPe0epZbJp3xiccl/4Gizbk3CEU0xMI5iFkejw==
-----END PUBLIC KEY-----`);
const trust = { ...toTrustMaterial(TrustedRoot.fromJSON(json("root.json"))), publicKey: () => ({ publicKey, validFor: () => true }) };
const entity = toSignedEntity(bundleFromJSON(json("bundle.json")));
const check = (entity) => {
  try {
    new Verifier(trust, { timestampThreshold: 0 }).verify(entity);
    return "verified";
  } catch (error) {
    return `${error.code}: ${error.message}`;
  }
};
console.log("as it is:", check(entity));
const encoded = createHash("sha256").update(entity.signature.preAuthEncoding).digest();
const signature = Object.create(entity.signature, { compareDigest: { value: (digest) => encoded.equals(digest) } });
console.log("with the hash of the signed bytes:", check({ ...entity, signature }));
JS
node seen.mjs > seen

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
as it is: TLOG_BODY_ERROR: digest mismatch
with the hash of the signed bytes: verified
END
echo "as described"
