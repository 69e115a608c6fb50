import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CapabilityPatternError, parseCapabilities } from "../../src/config/capability-patterns.js";

// Expected texts: spec kubewarden.md 1.5.
describe("capability patterns", () => {
  for (const pattern of ["*", " * ", "oci/*", "oci/v1/*", "oci/v1/verify", " kubernetes/can_i "]) {
    test(`${JSON.stringify(pattern)} is a pattern`, () => assert.doesNotThrow(() => parseCapabilities([pattern])));
  }

  test("nothing can stand below a complete path", () => {
    assert.throws(
      () => parseCapabilities(["oci/v1/verify/*"]),
      /invalid pattern "oci\/v1\/verify\/\*": unknown segment "\*"/,
    );
  });

  const WILDCARD = "wildcard '*' must be the entire last path segment (e.g. 'oci/*'), not a partial match";
  const mistakes: Record<string, string> = {
    "": "invalid pattern: pattern must not be empty",
    "  ": "invalid pattern: pattern must not be empty",
    "oci*": `invalid pattern "oci*": ${WILDCARD}`,
    "oci/v1/oci_*": `invalid pattern "oci/v1/oci_*": ${WILDCARD}`,
    "a/*/b": `invalid pattern "a/*/b": ${WILDCARD}`,
    "oci/v1":
      'invalid pattern "oci/v1": not a complete capability path; use "oci/v1/*" to allow all capabilities under it',
    "oci/v3/verify": 'invalid pattern "oci/v3/verify": unknown segment "v3", valid options at this level are: v1, v2',
    tracing:
      'invalid pattern "tracing": unknown segment "tracing", valid options at this level are: crypto, kubernetes, net, oci',
    "kubernetes/watch":
      'invalid pattern "kubernetes/watch": unknown segment "watch", valid options at this level are: can_i, get_resource, list_resources_all, list_resources_by_namespace',
  };
  for (const [pattern, message] of Object.entries(mistakes)) {
    test(`${JSON.stringify(pattern)} is none`, () =>
      assert.throws(() => parseCapabilities([pattern]), new CapabilityPatternError(message)));
  }

  test("a capability is allowed by itself, a prefix or everything, and by nothing else", () => {
    assert.equal(parseCapabilities([]).allows("oci/v1/verify"), false);
    assert.equal(parseCapabilities(["oci/v2/*"]).allows("oci/v1/verify"), false);
    assert.equal(parseCapabilities(["oci/v1/oci_manifest"]).allows("oci/v1/oci_manifest_config"), false);
    assert.equal(parseCapabilities(["net/*", "oci/v1/*"]).allows("oci/v1/verify"), true);
    assert.equal(parseCapabilities(["oci/v1/verify"]).allows("oci/v1/verify"), true);
    assert.equal(parseCapabilities(["*"]).allows("anything/at_all"), true);
  });
});
