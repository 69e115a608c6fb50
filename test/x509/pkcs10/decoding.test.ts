import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { MalformedRequest, readCertificationRequest } from "../../../src/x509/pkcs10/index.js";
import { comparable, expectedOf, type ReferenceAnswer } from "./comparable.js";

const FOLDER = new URL("../../../../test/vectors/certificate-request-policy/", import.meta.url);

function lines<T>(name: string): readonly T[] {
  const text = readFileSync(new URL(name, FOLDER), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

interface Decoding {
  readonly id: string;
  readonly request: string;
  readonly expect: ReferenceAnswer;
}

interface Review {
  readonly id: string;
  readonly csrPem?: string;
  readonly expect: { readonly evaluators?: readonly { readonly evaluator: string; readonly error?: string }[] };
}

describe("a certification request is read as Go and cert-manager read it", () => {
  for (const { id, request, expect } of lines<Decoding>("decoding.jsonl")) {
    test(id, () => {
      const pem = Buffer.from(request, "base64");
      assert.deepEqual(comparable(readCertificationRequest(pem)), expectedOf(expect, pem));
    });
  }

  test("in every review: it is refused where no policy's attributes could be looked at", () => {
    let refused = 0;
    for (const { id, csrPem, expect } of ["curated.jsonl", "generated.jsonl"].flatMap((name) => lines<Review>(name))) {
      const answers = expect.evaluators?.filter(({ evaluator }) => evaluator === "allowed") ?? [];
      if (csrPem === undefined || answers.length === 0) continue;
      const read = readCertificationRequest(Buffer.from(csrPem));
      assert.equal(
        read instanceof MalformedRequest,
        answers.every(({ error }) => error !== undefined),
        id,
      );
      if (read instanceof MalformedRequest) refused += 1;
    }
    assert.ok(refused > 0);
  });
});
