import assert from "node:assert/strict";
import { test } from "node:test";
import { egressOptions } from "../../src/commands/egress-options.js";
import { SERVE_OPTIONS } from "../../src/commands/option-definitions.js";
import { DEFAULT_BLOCKLIST } from "../../src/world/http/egress-rules.js";

test("what the help says is blocked is what is blocked", () => {
  const option = SERVE_OPTIONS.find(({ flag }) => flag === "http-blocklist");
  assert.equal(option?.default, DEFAULT_BLOCKLIST.join(","));
});

test("lists are made of commas, and an empty one blocks nothing", () => {
  assert.deepEqual(egressOptions({ httpBlocklist: "", allowHttpInNamespacedPolicies: true }), {
    blocklist: [""],
    forNamespaced: true,
  });
  assert.deepEqual(egressOptions({ httpAllowlist: "https://a,https://b" }), {
    allowlist: ["https://a", "https://b"],
    forNamespaced: false,
  });
});
