import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { firstPemBlock } from "../../../src/x509/pem.js";
import { MalformedRequest, readCertificationRequest } from "../../../src/x509/pkcs10/index.js";
import { isPemOrDer, requestPem } from "../../../src/x509/pkcs10/request-file.js";
import { exampleCsr } from "../../support/example-csrs.js";

const pem = exampleCsr("web");
const der = firstPemBlock(pem)?.content ?? Buffer.alloc(0);

describe("files with certification requests", () => {
  test("PEM stays as it is, with the text around it", () => {
    const written = Buffer.concat([Buffer.from("Certificate Request:\n    Data:\n"), pem]);
    assert.equal(requestPem(written), written);
  });

  test("DER becomes PEM of the same request", () => {
    const made = requestPem(der);
    assert.ok(Buffer.isBuffer(made));
    assert.deepEqual(readCertificationRequest(made), readCertificationRequest(pem));
    assert.ok(
      made
        .toString()
        .split("\n")
        .every((line) => line.length <= 64),
    );
  });

  test("the older label will do", () =>
    assert.ok(Buffer.isBuffer(requestPem(Buffer.from(pem.toString().replaceAll("CERTIFICATE", "NEW CERTIFICATE"))))));

  test("so will any, of what is a request", () =>
    assert.ok(Buffer.isBuffer(requestPem(Buffer.from(pem.toString().replaceAll("CERTIFICATE REQUEST", "X"))))));

  test("what is wrong inside of a request is for others to say", () =>
    assert.ok(
      Buffer.isBuffer(
        requestPem(Buffer.from("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n")),
      ),
    ));

  const others: Readonly<Record<string, readonly [content: Buffer, message: RegExp]>> = {
    "a private key": [
      Buffer.from("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
      /not a CERTIFICATE REQUEST, but PRIVATE KEY$/,
    ],
    "a label with control characters": [
      Buffer.from("-----BEGIN \u001b[2J-----\nAAAA\n-----END \u001b[2J-----\n"),
      /but something else$/,
    ],
    "PEM that is cut off": [pem.subarray(0, 200), /no block of PEM that is whole$/],
    "DER that is cut off": [der.subarray(0, der.length - 1), /neither PEM nor DER/],
    "DER with more behind it": [Buffer.concat([der, Buffer.from("x")]), /neither PEM nor DER/],
    // SEQUENCE { INTEGER }: so keys begin.
    "a key in DER": [Buffer.from([0x30, 0x03, 0x02, 0x01, 0x00]), /neither PEM nor DER/],
    // SEQUENCE { SEQUENCE { [0] } }: so certificates begin.
    "a certificate in DER": [Buffer.from([0x30, 0x04, 0x30, 0x02, 0xa0, 0x00]), /neither PEM nor DER/],
    YAML: [Buffer.from("kind: CertificateRequest\n"), /neither PEM nor DER/],
    nothing: [Buffer.alloc(0), /neither PEM nor DER/],
  };
  for (const [name, [content, message]] of Object.entries(others)) {
    test(`${name} is none`, () => {
      const read = requestPem(content);
      assert.ok(read instanceof MalformedRequest);
      assert.match(read.message, message);
    });
  }

  test("are recognised by how they begin", () => {
    assert.ok(isPemOrDer(pem.subarray(0, 16)));
    assert.ok(isPemOrDer(der.subarray(0, 16)));
    for (const text of ["", "0", "-", "---\n", "--- # x", "{}", "[", "apiVersion: v1"])
      assert.ok(!isPemOrDer(Buffer.from(text)), text);
  });
});
