import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { libraryBindings } from "../../../../src/kinds/kyverno/libraries/index.js";
import { LONGEST_PEM } from "../../../../src/kinds/kyverno/libraries/x509.js";
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
});
