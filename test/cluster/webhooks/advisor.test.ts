import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartContext } from "../../../src/cluster/part.js";
import { PolicyFacts } from "../../../src/cluster/policy-facts.js";
import { Advisor } from "../../../src/cluster/webhooks/advisor.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { idOf } from "../../../src/cluster/webhooks/part.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { SETTINGS } from "../support.js";
import { admissionPolicy, kyverno } from "./documents.js";

const rule = (group: string, resource: string): JsonObject => ({
  ...{ apiGroups: [group], apiVersions: ["*"], operations: ["*"], resources: [resource] },
});
const about = (name: string, ...resourceRules: JsonObject[]) => kyverno(name, { matchConstraints: { resourceRules } });

/** An advisor in front of an API server with these answers, and what it has said of each policy. */
function advised(answers: Record<string, unknown>) {
  const documents = [
    about("tokens", rule("authentication.k8s.io", "tokenreviews")),
    about("leases", rule("*", "leases")),
    about("nodes", rule("*", "nodes")),
    about("pods", rule("", "pods")),
    admissionPolicy("unbound"),
  ];
  const settings = { ...SETTINGS, enforceAdmissionPolicies: true };
  const deriver = new WebhookDeriver({ ownNamespace: settings.namespace, idOf, enforceAdmissionPolicies: true });
  deriver.derive(documents);
  const [facts, clock] = [new PolicyFacts(), new TestClock()];
  const get = async (path: string) => {
    if (!(path in answers)) throw new Error(`no answer for ${path}`);
    return { value: answers[path] };
  };
  const context = {
    ...{ facts, clock, settings, log: keptLog().logger },
    cluster: { http: { get }, signal: new AbortController().signal },
    state: () => ({ documents: new Map(documents.map((each) => [each.key, each])) }),
  };
  const advisor = new Advisor(context as unknown as PartContext, deriver);
  advisor.look();
  const of = (name: string): string => {
    const { key = "" } = documents.find((each) => each.key.endsWith(`/${name}`)) ?? {};
    const told = facts.advice(key);
    return told === undefined ? "fine" : told.isNeverAsked ? "never" : "warned";
  };
  return { of, clock, answers, stop: () => advisor.stop() };
}

const group = (name: string) => ({ name, preferredVersion: { groupVersion: `${name}/v1` } });
const resource = (name: string, ...verbs: string[]) => ({ name, verbs });

test("advice follows the version of the API server; while that is unknown, nothing is called never asked for it", async () => {
  const { of, clock, answers, stop } = advised({});
  assert.deepEqual([of("tokens"), of("pods"), of("unbound")], ["warned", "fine", "never"]);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  await settled();
  answers["/version"] = { major: "1", minor: "36" };
  clock.move(60_000);
  await settled();
  assert.equal(of("tokens"), "warned");
  answers["/version"] = { major: "1", minor: "37" };
  clock.move(60_000);
  await settled();
  // Both are there for a while.
  assert.equal(of("tokens"), "warned");
  for (let minute = 0; minute < 12; minute++) {
    clock.move(60_000);
    await settled();
  }
  assert.equal(of("tokens"), "never");
  stop();
});

test("a resource of any group is never asked about only where no other group has one of its name that can be written", async () => {
  const { of, stop } = advised({
    "/version": { major: "1", minor: "37" },
    "/apis": {
      groups: [group("metrics.k8s.io"), group("longhorn.io"), group("coordination.k8s.io"), group("example.com")],
    },
    "/apis/metrics.k8s.io/v1": { resources: [resource("nodes", "get", "list")] },
    "/apis/longhorn.io/v1": { resources: [resource("nodes", "get", "create"), resource("nodes/status", "update")] },
    "/apis/coordination.k8s.io/v1": { resources: [resource("leases", "create")] },
    "/apis/example.com/v1": { resources: [resource("things", "create")] },
  });
  assert.deepEqual([of("leases"), of("nodes")], ["warned", "warned"]);
  await until("what the groups have", () => of("leases") === "never");
  assert.equal(of("nodes"), "warned");
  stop();
});
