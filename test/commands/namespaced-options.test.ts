import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../../src/commands/io.js";
import { clusterEntryOptions } from "../../src/commands/namespaced-options.js";

test("what policies in namespaces may be is as the options say; without any of them there are no limits", () => {
  assert.deepEqual(clusterEntryOptions({ policyServerName: "own" }), { policyServer: "own", namespaced: {} });
  const values = {
    namespacedPolicyKinds: "AdmissionPolicy, NamespacedValidatingPolicy",
    namespacedPolicyPlaces: "ghcr.io/acme, https://modules.example/",
    namespacedPolicyMemory: 64,
  };
  assert.deepEqual(clusterEntryOptions(values).namespaced, {
    kinds: new Set(["AdmissionPolicy", "NamespacedValidatingPolicy"]),
    places: ["ghcr.io/acme", "https://modules.example/"],
    memoryMiB: 64,
  });
});

test("empty lists allow nothing", () => {
  const { namespaced } = clusterEntryOptions({ namespacedPolicyKinds: "", namespacedPolicyPlaces: "" });
  assert.deepEqual(clusterEntryOptions({ exceptionNamespaces: "a, b" }).exceptionNamespaces, new Set(["a", "b"]));
  assert.deepEqual(namespaced, { kinds: new Set(), places: [] });
});

test("a kind that there is not is a mistake of the command line", () => {
  assert.throws(() => clusterEntryOptions({ namespacedPolicyKinds: "ClusterAdmissionPolicy" }), UsageError);
});
