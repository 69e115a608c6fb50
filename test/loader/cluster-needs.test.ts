import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../src/config/index.js";
import { needyPolicies } from "../../src/loader/cluster-needs.js";

function needy(yaml: string): string[] {
  const read = parseConfig(yaml, "policies.yaml");
  assert.ok(read.ok && read.problems.length === 0, JSON.stringify(read.problems));
  return needyPolicies(read.config);
}

const guest = (keys: string) => `p: { module: "file:///p.wasm", ${keys} }`;

test("a guest needs a cluster when its entry names kinds or Kubernetes capabilities, not because everything is granted", () => {
  assert.deepEqual(needy(guest('hostCapabilities: ["*"]')), []);
  assert.deepEqual(needy(guest('hostCapabilities: ["net/*"]')), []);
  assert.deepEqual(needy(guest("settings: {}")), []);
  assert.deepEqual(needy(guest('hostCapabilities: ["kubernetes/*"]')), ["p"]);
  assert.deepEqual(needy(guest('hostCapabilities: ["kubernetes/can_i"]')), ["p"]);
  assert.deepEqual(needy(guest("contextAwareResources: [{ apiVersion: v1, kind: Pod }]")), ["p"]);
});

test("a CEL policy needs one when its expressions look beyond the request", () => {
  const rule = (expression: string) => `p: { cel: { validations: [ { expression: "${expression}" } ] } }`;
  assert.deepEqual(needy(rule("object.metadata.name != 'x'")), []);
  assert.deepEqual(needy(rule("namespaceObject.metadata.labels.tier == 'x'")), ["p"]);
  assert.deepEqual(needy(rule("authorizer.group('').resource('pods').check('get').allowed()")), ["p"]);
});
