import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { libraryBindings } from "../../../../src/kinds/kyverno/libraries/index.js";
import { LONGEST_PEM } from "../../../../src/kinds/kyverno/libraries/x509.js";
import {
  alternativeNames,
  bits,
  der,
  extensionRequest,
  oid,
  pem,
  request,
  SEQUENCE,
} from "../../../x509/pkcs10/requests.js";
import { resultOf } from "../evaluated.js";

interface Golden {
  readonly name: string;
  readonly pem: string;
  /** What Kyverno 1.19.1 gives. */
  readonly json?: string;
  readonly error?: string;
}

const file = new URL("../../../../../test/vectors/kyverno/x509.jsonl", import.meta.url);
const cases = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Golden);

const decoded = (object: string): unknown =>
  resultOf("json.marshal(x509.decode(object))", { bindings: { ...libraryBindings, object } });

describe("a certificate or a request for one", () => {
  for (const { name, pem, json, error } of cases) {
    test(`is read as the reference reads it: ${name}`, () => {
      assert.equal(decoded(pem), json ?? `error: ${error}`);
    });
  }

  test("has doubles for numbers", () => {
    const pem = cases.find(({ json }) => json !== undefined)?.pem ?? "";
    const bindings = { ...libraryBindings, object: pem };
    assert.equal(resultOf("x509.decode(object).PublicKey.E == 65537.0", { bindings }), true);
    assert.equal(resultOf("type(x509.decode(object).PublicKey.E) == double", { bindings }), true);
  });

  test("is not looked for in a text that is too long, and quickly found in none", () => {
    assert.equal(decoded("x".repeat(LONGEST_PEM + 1)), "error: too large to be read as PEM");
    assert.equal(decoded("-----BEGIN A-----\n".repeat(3_000)), "error: failed to decode PEM block");
  });

  test("is found, or not, in time that grows as the text does", () => {
    const texts = [
      "-----BEGIN A-----\n",
      "-----BEGIN A-----\nx: y\n",
      "-----BEGIN A: -----\n",
      "-----BEGIN A-----\nx: -----BEGIN A-----\n",
    ];
    const before = process.cpuUsage();
    for (const text of texts) {
      const lines = text.repeat(Math.floor((LONGEST_PEM - 50) / text.length));
      assert.match(String(decoded(`${lines}-----END A-----\n`)), /^error: PEM block neither|^error: failed to decode/);
    }
    // Otherwise it takes seconds.
    assert.ok(process.cpuUsage(before).user < 600_000);
  });

  test("stands in lines of its own", () => {
    const pem = cases.find(({ json }) => json !== undefined)?.pem ?? "";
    assert.equal(decoded(pem.replace("\n-----END", "-----END")), "error: failed to decode PEM block");
    assert.equal(decoded(pem.trimEnd().concat(" x\n")), "error: failed to decode PEM block");
    assert.equal(decoded(pem.replace("\n", "\na: -----BEGIN X-----\n")), "error: failed to decode PEM block");
    assert.equal(decoded(`-----BEGIN CERTIFICATE-----\n${pem}`), decoded(pem));
  });

  const rsaKey = (...modulus: readonly number[]): Buffer =>
    der(
      SEQUENCE,
      der(SEQUENCE, oid("1.2.840.113549.1.1.1"), der(5)),
      bits(der(SEQUENCE, der(2, Buffer.from(modulus)), der(2, Buffer.from([3])))),
    );

  test("is refused where Go refuses it", () => {
    const decodedRequest = (content: Buffer): unknown => decoded(pem(content).toString("latin1"));
    assert.equal(decodedRequest(request({ key: rsaKey(0) })), "error: x509: RSA modulus is not a positive number");
    const twice = extensionRequest(alternativeNames(), alternativeNames());
    assert.equal(
      decodedRequest(request({ key: rsaKey(0x7f), attributes: [twice] })),
      "error: x509: certificate request contains duplicate requested extensions",
    );
    assert.equal(
      decodedRequest(Buffer.concat([request({ key: rsaKey(0x7f) }), Buffer.from([0])])),
      "error: asn1: syntax error: trailing data",
    );
  });

  test("asks for URIs and addresses as Go reads them", () => {
    const uris = ["HTTPS://Example.com/a%20b", "https://h/caf%C3%A9"].map((uri) => der(0x86, Buffer.from(uri)));
    const address = der(0x87, Buffer.from("00000000000000000000ffff0a000001", "hex"));
    const read = pem(request({ key: rsaKey(0x7f), alternatives: [...uris, address] })).toString("latin1");
    const { URIs, IPAddresses } = JSON.parse(String(decoded(read)));
    assert.deepEqual(URIs, [
      { Scheme: "https", Host: "Example.com", Path: "/a b" },
      { Scheme: "https", Host: "h", Path: "/café" },
    ]);
    assert.deepEqual(IPAddresses, ["10.0.0.1"]);
    const odd = request({ key: rsaKey(0x7f), alternatives: [der(0x86, Buffer.from("https://h%C3%A9:8/"))] });
    assert.equal(decoded(pem(odd).toString("latin1")), "error: x509: cannot parse URI: invalid domain");
  });
});
