import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsOf } from "../../../src/cluster/certificates/index.js";

const service = { namespace: "policies", name: "gateway" };
const NAMES = ["gateway.policies.svc", "gateway.policies.svc.cluster.local", "gateway.policies", "gateway"];

test("a server is known by its Service's names, and by the host of a URL", () => {
  assert.deepEqual(hostsOf({ service }), NAMES);
  assert.deepEqual(hostsOf({ service, webhookUrl: "https://gateway.example.com:8443" }), [
    ...NAMES,
    "gateway.example.com",
  ]);
  assert.deepEqual(hostsOf({ service, webhookUrl: "https://10.0.0.1" }), [...NAMES, "10.0.0.1"]);
  assert.deepEqual(hostsOf({ service, webhookUrl: "https://[2001:db8::1]:8443" }), [...NAMES, "2001:db8::1"]);
});
