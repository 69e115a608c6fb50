import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { adviceOn, knownKind } from "../../../src/config/documents/known-kinds.js";

const at = (page: string): string => fileURLToPath(new URL(`../../../../${page}`, import.meta.url));

describe("kinds that people bring along", () => {
  for (const [group, kind, use] of [
    ["admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "resource"],
    ["policies.kubewarden.io", "ClusterAdmissionPolicy", "resource-alone"],
    ["kyverno.io", "ClusterPolicy", "resource"],
    ["kyverno.io", "CleanupPolicy", "none"],
    ["policies.kyverno.io", "MutatingPolicy", "resource"],
    ["policies.kyverno.io", "NamespacedDeletingPolicy", "none"],
    ["templates.gatekeeper.sh", "ConstraintTemplate", "none"],
    ["constraints.gatekeeper.sh", "K8sAllowedRepos", "none"],
  ] as const) {
    test(`${kind} of ${group} is known, and its page exists`, () => {
      const known = knownKind({ group, kind });
      assert.equal(known?.use, use);
      assert.ok(existsSync(at(known.page)), known.page);
      assert.ok(adviceOn(known).includes(known.page));
    });
  }

  test("all others are not, whatever they are called", () => {
    for (const [group, kind] of [
      ["", "Pod"],
      ["apps", "ClusterPolicy"],
      ["kyverno.io", "constructor"],
      ["", "__proto__"],
    ] as const)
      assert.equal(knownKind({ group, kind }), undefined);
  });
});
