import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertPolicy } from "../../../../src/kinds/kyverno/convert/index.js";
import { type Json, policyOf, reasonsOf } from "./judged.js";

describe("a rule of a sort that has no counterpart", () => {
  for (const [what, rule, place, instead] of [
    ["verifyImages", { verifyImages: [{ imageReferences: ["*"] }] }, "verifyImages", /ImageValidatingPolicy/],
    ["generate", { generate: { kind: "NetworkPolicy", apiVersion: "v1", name: "a" } }, "generate", /GeneratingPolicy/],
    ["assertions", { validate: { assert: { spec: {} } } }, "validate.assert", /validations of a ValidatingPolicy/],
    ["manifests", { validate: { manifests: { attestors: [] } } }, "validate.manifests", /where they are deployed from/],
  ] as const)
    test(`is refused with what to write instead: ${what}`, () => {
      const written: Json = "validate" in rule ? { ...rule } : { validate: undefined, ...rule };
      const [reason = ""] = reasonsOf(convertPolicy(policyOf(written)));
      assert.ok(reason.startsWith(`spec.rules.0.${place}: `), reason);
      assert.match(reason, instead);
    });
});
