import assert from "node:assert/strict";
import { test } from "node:test";
import { applyRequest, bodyText, patchRequest } from "../../../src/kubernetes/client/requests.js";

/** Every character that JSON may hold as it is. */
const CHARACTERS = Array.from({ length: 0x10000 - 0x20 }, (_, i) => String.fromCharCode(i + 0x20))
  .filter((character) => !/[\ud800-\udfff]/.test(character))
  .concat("😀", "\u{1fffe}", "\u{10ffff}");

test("what is applied means the same to a reader of YAML, which API servers have it read by", () => {
  const text = CHARACTERS.join("");
  const body = { metadata: { name: "a" }, [text.slice(0, 100)]: text };
  const sent = bodyText(applyRequest("/x", body, { fieldManager: "me" })) ?? "";
  assert.deepEqual(JSON.parse(sent), body);
  // API server 1.37.2 answers 400 to U+007F, reads U+0085 as a blank, and takes what is left as it is.
  assert.doesNotMatch(sent, /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/);
  assert.equal(bodyText(patchRequest("/x", "merge", body, {})), JSON.stringify(body));
});
