/** What guests get of a body: cut out of it or printed, it says the same. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { decodeAdmissionReview, decodeRawReview } from "../../src/admission/decode.js";
import { parseJson, stringifyJson } from "../../src/data/json.js";

const vectors = new URL("../../../test/vectors/", import.meta.url);

/** Every object with these members in the lines of a file, wherever it stands. */
function* found(file: string, members: readonly string[]): Iterable<Record<string, unknown>> {
  const search = function* (value: unknown): Iterable<Record<string, unknown>> {
    if (typeof value !== "object" || value === null || value instanceof Number) return;
    if (members.every((member) => Object.hasOwn(value, member))) yield value as Record<string, unknown>;
    for (const inner of Object.values(value)) yield* search(inner);
  };
  for (const line of readFileSync(new URL(file, vectors), "utf8").trim().split("\n")) yield* search(parseJson(line));
}

/** The forms in which a review may come: as Go prints it, and as people write it. */
function bodies(review: unknown): Buffer[] {
  const compact = stringifyJson(review);
  const escaped = compact.replace(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  const forms = [compact, escaped];
  // The built-in printer knows no exact numbers.
  if (!/\d\.0\b|\d{16}/.test(compact)) forms.push(JSON.stringify(review, null, 2));
  return forms.map((text) => Buffer.from(text));
}

const read = (bytes: Uint8Array): unknown => parseJson(Buffer.from(bytes).toString());

describe("what guests get of golden requests is what would be printed of them", () => {
  for (const file of ["kubewarden/cases.jsonl", "vap/curated.jsonl", "vap/generated.jsonl", "map/generated.jsonl"]) {
    test(file, () => {
      let cuts = 0;
      for (const request of found(file, ["uid", "operation", "userInfo", "object"])) {
        for (const form of [request, { ...request, oldObject: null, options: null, unknown: { object: {} } }]) {
          for (const body of bodies({ kind: "AdmissionReview", request: form })) {
            const question = decodeAdmissionReview(body);
            if (question.kind === "problem") continue;
            const bytes = question.requestBytes();
            assert.deepEqual(read(bytes), read(Buffer.from(stringifyJson(question.request))));
            cuts += 1;
          }
        }
      }
      for (const { request } of found(file, ["request"])) {
        for (const body of bodies({ request })) {
          const question = decodeRawReview(body);
          assert.ok(question.kind === "raw");
          assert.deepEqual(read(question.requestBytes()), read(Buffer.from(stringifyJson(question.payload))));
        }
      }
      assert.ok(cuts > 20, `${cuts} requests`);
    });
  }
});

describe("the object's own text", () => {
  const request = { uid: "u", kind: { group: "", version: "v1", kind: "Pod" }, operation: "CREATE", userInfo: {} };
  const review = (members: string) => {
    const head = JSON.stringify({ ...request, resource: { group: "", version: "v1", resource: "pods" } }).slice(0, -1);
    const question = decodeAdmissionReview(Buffer.from(`{"request":${head},${members}}}`));
    assert.ok(question.kind === "admission");
    return Buffer.from(question.requestBytes()).toString();
  };

  test("goes to guests as it was sent", () => {
    const object = '{ "b" : "\\u003c" , "a" : [ ] , "ä": "🙂" }';
    assert.ok(review(`"object":${object}`).endsWith(`,"object":${object}}`));
  });

  test("and the old object's and the options', but not what is null or unknown", () => {
    const text = review('"oldObject":{"x": 1},"object":null,"mine":{"object":{}},"options":{"y": 2}');
    assert.ok(text.endsWith(',"oldObject":{"x": 1},"options":{"y": 2}}'), text);
    assert.ok(!text.includes("mine"));
  });

  test("does not where a key is repeated: readers differ in which one they take", () => {
    assert.ok(review('"object":{"a":[{"k": 1, "k": 2}]}').endsWith('"object":{"a":[{"k":2}]}}'));
  });

  test("that is no object and no list is printed", () => {
    assert.ok(review('"object":"\\u0041"').endsWith('"object":"A"}'));
  });
});
