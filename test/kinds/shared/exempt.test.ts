import assert from "node:assert/strict";
import { test } from "node:test";
import { exemption, isOperation } from "../../../src/kinds/shared/match/exempt.js";

test("policies never judge reviews of identities and access, nor policies (spec validating-admission-policy.md 3.8)", () => {
  const exempt: Readonly<Record<string, readonly string[]>> = {
    "authentication.k8s.io": ["selfsubjectreviews", "tokenreviews"],
    "authorization.k8s.io": [
      ...["localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"],
    ],
    "admissionregistration.k8s.io": [
      ...["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
      ...["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"],
    ],
  };
  for (const [group, resources] of Object.entries(exempt)) {
    for (const resource of resources) {
      assert.equal(exemption(group, resource), `${resource} of ${group} are never judged by policies`);
      assert.equal(exemption("", resource), undefined);
    }
  }
  assert.equal(exemption("admissionregistration.k8s.io", "validatingwebhookconfigurations"), undefined);
  assert.equal(exemption("", ""), undefined);
});

test("there are four operations, in capitals", () => {
  for (const operation of ["CREATE", "UPDATE", "DELETE", "CONNECT"]) assert.ok(isOperation(operation));
  for (const operation of ["create", "PATCH", "*", ""]) assert.ok(!isOperation(operation), operation);
});
