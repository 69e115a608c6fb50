import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scrutinyOf } from "../../../src/kinds/certificate-request-policy/scrutiny.js";
import { MalformedRequest, readCertificationRequest } from "../../../src/x509/pkcs10/index.js";
import { readCases } from "../../support/certificate-request-policy-vectors.js";

/** The signing request of a case. */
const pemOf = (id: string): Buffer => {
  const line = readCases("curated.jsonl").find((each) => each.id === id);
  assert.ok(typeof line?.csrPem === "string", id);
  return Buffer.from(line.csrPem);
};

/** The same with the first of its DNS names as a constructed element. */
function withOddName(pem: Buffer): Buffer {
  const lines = pem.toString().trim().split("\n");
  const der = Buffer.from(lines.slice(1, -1).join(""), "base64");
  const name = der.indexOf(Buffer.from("web.example.com"));
  assert.equal(der[name - 2], 0x82);
  der[name - 2] = 0xa2;
  return Buffer.from([lines[0], der.toString("base64"), lines.at(-1), ""].join("\n"));
}

describe("what nobody looks at upstream (spec certificate-request-policy.md 1.2)", () => {
  test("is not looked at by default", () => {
    assert.equal(scrutinyOf({}), undefined);
  });

  test("may be names in another form", () => {
    const scrutinise = scrutinyOf({ strictNames: true });
    const plain = pemOf("attribute/dnsNames/asked-other-attribute-configured");
    const odd = withOddName(plain);
    const read = readCertificationRequest(odd);
    assert.ok(!(read instanceof MalformedRequest) && !read.dnsNames.includes("web.example.com"));
    assert.match(scrutinise?.(odd) ?? "", /^spec\.request: Forbidden: subjectAltName/);
    assert.equal(scrutinise?.(plain), undefined);
    assert.equal(scrutinise?.(pemOf("attribute/commonName/not-asked-required")), undefined);
  });

  test("may be a signature that does not fit", () => {
    const scrutinise = scrutinyOf({ verifySignature: true });
    assert.match(scrutinise?.(pemOf("csr/bad-signature")) ?? "", /^spec\.request: Forbidden: it is not signed/);
    assert.equal(scrutinise?.(pemOf("attribute/commonName/not-asked-required")), undefined);
    assert.equal(scrutinise?.(Buffer.from("no PEM")) === undefined, false);
  });
});
