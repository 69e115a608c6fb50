import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PolicyFacts } from "../../../src/cluster/policy-facts.js";
import { type Condition, standingOf } from "../../../src/cluster/status/conditions.js";
import { formOf, statusToWrite } from "../../../src/cluster/status/forms.js";
import type { LoadedPolicyReport } from "../../../src/config/from-cluster/cluster-document.js";
import { isObject } from "../../../src/kubernetes/object.js";

const KEY = "policies.kubewarden.io/ClusterAdmissionPolicy//a";
const DOCUMENT = { key: KEY, generation: 3 };

const report = (more: Partial<LoadedPolicyReport> = {}): LoadedPolicyReport => ({
  ...{ id: "clusterwide-a", key: KEY, generation: 3, state: "loaded", problems: [] },
  ...more,
});

function factsOf(...reports: LoadedPolicyReport[]): PolicyFacts {
  const facts = new PolicyFacts();
  facts.loaded(reports);
  return facts;
}

const shown = ({ type, status, reason, message }: Condition): string => `${type} ${status} ${reason}: ${message}`;
const ERROR = { severity: "error", text: "spec.module (line 14, column 30): no such module" } as const;
const WARNING = { severity: "warning", text: "spec.rules (line 20, column 1): matches nothing" } as const;

describe("the conditions of a policy", () => {
  test("say that it is loaded and active by the generation that is", () => {
    const { loaded, active, decides } = standingOf(DOCUMENT, factsOf(report({ problems: [WARNING] })), []);
    assert.equal(shown(loaded), `Loaded True Loaded: ${WARNING.text}`);
    assert.equal(shown(active), "Active True Active: every replica has loaded it");
    assert.deepEqual([loaded.observedGeneration, active.observedGeneration, decides], [3, 3, true]);
  });

  test("say that it is never asked, or what its author should know of its rules", () => {
    const facts = factsOf(report());
    facts.setWebhook(KEY, "there");
    facts.setAdvice(KEY, { isNeverAsked: true, text: "it is never asked: why" });
    const never = standingOf(DOCUMENT, facts, []);
    assert.equal(shown(never.active), "Active False NeverAsked: it is never asked: why");
    assert.equal(never.decides, false);
    const kubewarden = formOf("policies.kubewarden.io", "ClusterAdmissionPolicy", false)?.status(never, "protect");
    assert.equal(kubewarden?.policyStatus, "pending");
    const kyverno = formOf("policies.kyverno.io", "ValidatingPolicy", false)?.status(never, "");
    assert.match(JSON.stringify(kyverno), /"ready":false,"message":"it is never asked: why"/);
    facts.setAdvice(KEY, { isNeverAsked: false, text: "names nodes" });
    const warned = standingOf(DOCUMENT, facts, []);
    assert.equal(shown(warned.active), "Active True Active: every replica has loaded it; warning: names nodes");
    assert.equal(warned.decides, true);
    facts.setAdvice(KEY, undefined);
    assert.equal(shown(standingOf(DOCUMENT, facts, []).active), "Active True Active: every replica has loaded it");
  });

  test("say where it is mistaken, errors first, and that it denies", () => {
    const facts = factsOf(report({ state: "unavailable", problems: [WARNING, ERROR] }));
    const { loaded, active, decides } = standingOf(DOCUMENT, facts, []);
    assert.equal(shown(loaded), `Loaded False LoadFailed: requests are denied: ${ERROR.text}; ${WARNING.text}`);
    assert.deepEqual([active.status, active.reason, decides], ["False", "LoadFailed", false]);
  });

  test("say that another policy has its id, and who asks about one that denies", () => {
    const shownOf = (state: LoadedPolicyReport["state"], webhook: "there" | "missing"): string => {
      const facts = factsOf(report({ state, problems: [ERROR] }));
      facts.setWebhook(KEY, webhook);
      return shown(standingOf(DOCUMENT, facts, []).loaded);
    };
    assert.equal(shownOf("refused", "there"), `Loaded False IdTaken: ${ERROR.text}`);
    assert.equal(shownOf("waiting", "there"), `Loaded False Loading: requests are denied: ${ERROR.text}`);
    const unasked = `the API server does not ask about it: ${ERROR.text}`;
    assert.equal(shownOf("waiting", "missing"), `Loaded False Loading: ${unasked}`);
    assert.equal(shownOf("unavailable", "missing"), `Loaded False LoadFailed: ${unasked}`);
  });

  test("say that the version before goes on deciding", () => {
    const { loaded, active, decides } = standingOf(
      DOCUMENT,
      factsOf(report({ state: "last-good", problems: [ERROR] })),
      [],
    );
    assert.equal(shown(loaded), `Loaded False LastGood: the version before this one is still served: ${ERROR.text}`);
    assert.equal(shown(active), "Active False LastGood: the version before this one is active");
    assert.equal(decides, true);
  });

  test("name the replicas that have not loaded it, and a webhook that is missing", () => {
    const facts = factsOf(report());
    const six = ["a", "b", "c", "d", "e", "f"];
    assert.equal(
      shown(standingOf(DOCUMENT, facts, six).active),
      "Active False Rollout: not loaded yet by the replicas a, b, c, d, e and 1 more",
    );
    facts.setWebhook(KEY, "missing");
    assert.equal(standingOf(DOCUMENT, facts, []).active.reason, "NoWebhook");
    facts.setWebhook(KEY, "missing", "its webhook waits for the replica b");
    assert.match(standingOf(DOCUMENT, facts, []).active.message, /: its webhook waits for the replica b$/);
    facts.setWebhook(KEY, "missing", "the API server refuses its webhook: no", "WebhookRefused");
    assert.equal(
      shown(standingOf(DOCUMENT, facts, []).active),
      "Active False WebhookRefused: the API server does not ask about it yet: the API server refuses its webhook: no",
    );
    facts.setWebhook(KEY, "there");
    assert.equal(standingOf(DOCUMENT, facts, []).active.status, "True");
  });

  test("tell of a shadow while there is one", () => {
    const facts = factsOf(report());
    facts.setShadow(KEY, { message: "would have denied 3 of 100 requests" });
    assert.equal(
      shown(standingOf(DOCUMENT, facts, []).shadow as Condition),
      "Shadow True Shadow: would have denied 3 of 100 requests",
    );
    facts.setShadow(KEY, undefined);
    assert.equal(standingOf(DOCUMENT, facts, []).shadow, undefined);
  });
});

const membersOf = (value: unknown): Record<string, unknown> => {
  assert.ok(isObject(value));
  return value;
};

const listOf = (value: unknown): Record<string, unknown>[] => {
  assert.ok(Array.isArray(value));
  return value.map(membersOf);
};

const NOW = "2026-01-02T03:04:05Z";

function statusOf(group: string, kind: string, facts: PolicyFacts, current?: unknown, mode = "") {
  const form = formOf(group, kind, true);
  assert.ok(form);
  return statusToWrite(form, form.status(standingOf(DOCUMENT, facts, []), mode), current, NOW);
}

const typesOf = (conditions: unknown): string[] =>
  (conditions as { type: string; status: string }[]).map(({ type, status }) => `${type} ${status}`);

describe("the status of a policy", () => {
  test("is for Kubewarden's users what their controller writes, and more", () => {
    const status = statusOf("policies.kubewarden.io", "AdmissionPolicy", factsOf(report()), undefined, "monitor");
    assert.deepEqual([status?.policyStatus, status?.mode], ["active", "monitor"]);
    assert.deepEqual(typesOf(status?.conditions), [
      "Loaded True",
      "Active True",
      "PolicyActive True",
      "PolicyServerConfigurationUpToDate True",
      "PolicyUniquelyReachable True",
    ]);
    const broken = statusOf("policies.kubewarden.io", "AdmissionPolicy", factsOf(report({ state: "unavailable" })));
    assert.deepEqual([broken?.policyStatus, broken?.mode], ["pending", "protect"]);
  });

  test("is for Kyverno's users whether it is ready", () => {
    const status = statusOf("policies.kyverno.io", "ValidatingPolicy", factsOf(report()));
    const { ready, message, conditions } = membersOf(status?.conditionStatus);
    assert.deepEqual([ready, message, typesOf(conditions)], [true, "", ["Loaded True", "Active True"]]);
    const broken = statusOf(
      "policies.kyverno.io",
      "ValidatingPolicy",
      factsOf(report({ state: "unavailable", problems: [ERROR] })),
    );
    const { ready: no, message: why } = membersOf(broken?.conditionStatus);
    assert.deepEqual([no, why], [false, `requests are denied: ${ERROR.text}`]);
  });

  test("is for CertificateRequestPolicies the condition that approver-policy writes", () => {
    const status = statusOf("policy.cert-manager.io", "CertificateRequestPolicy", factsOf(report()));
    assert.deepEqual(status, {
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "Ready",
          message: "CertificateRequestPolicy is ready for approval evaluation",
          observedGeneration: 3,
          lastTransitionTime: NOW,
        },
      ],
    });
  });

  test("is the API server's own for ValidatingAdmissionPolicies that it enforces, and nobody's for what is no policy", () => {
    assert.equal(formOf("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", false), undefined);
    assert.equal(formOf("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", true), undefined);
    assert.equal(formOf("policies.kubewarden.io", "PolicyServer", true), undefined);
    assert.equal(formOf("policies.kyverno.io", "PolicyException", true), undefined);
    assert.equal(formOf("", "ConfigMap", true), undefined);
  });

  test("is not written when it is there, whatever others have written beside it and in whatever order", () => {
    const form = ["policies.kubewarden.io", "AdmissionPolicy"] as const;
    const written = statusOf(...form, factsOf(report()));
    const conditions = [...listOf(written?.conditions)].reverse();
    const current = {
      others: 1,
      conditions: [{ type: "Theirs", status: "True" }, ...conditions],
      mode: "protect",
      policyStatus: "active",
    };
    assert.equal(statusOf(...form, factsOf(report()), current), undefined);
  });

  test("is written when one of its conditions is to go", () => {
    const facts = factsOf(report());
    facts.setShadow(KEY, { message: "x" });
    const written = statusOf("policies.kyverno.io", "ValidatingPolicy", facts);
    facts.setShadow(KEY, undefined);
    assert.notEqual(statusOf("policies.kyverno.io", "ValidatingPolicy", facts, written), undefined);
    const other = statusOf("policies.kubewarden.io", "AdmissionPolicy", factsOf(report()));
    const conditions = [...listOf(other?.conditions), { type: "Shadow", status: "True" }];
    assert.notEqual(
      statusOf("policies.kubewarden.io", "AdmissionPolicy", factsOf(report()), { ...other, conditions }),
      undefined,
    );
  });

  test("keeps the times of conditions whose status is what it was", () => {
    const before = statusOf("policies.kubewarden.io", "AdmissionPolicy", factsOf(report()));
    const old = listOf(before?.conditions).map((each) => ({
      ...each,
      lastTransitionTime: "2020-01-01T00:00:00Z",
    }));
    const after = statusOf("policies.kubewarden.io", "AdmissionPolicy", factsOf(report({ problems: [WARNING] })), {
      ...before,
      conditions: old,
    });
    const times = listOf(after?.conditions).map(({ lastTransitionTime }) => lastTransitionTime);
    assert.deepEqual(new Set(times), new Set(["2020-01-01T00:00:00Z"]));
    const worse = statusOf("policies.kubewarden.io", "AdmissionPolicy", factsOf(report({ state: "unavailable" })), {
      ...before,
      conditions: old,
    });
    assert.equal(listOf(worse?.conditions)[0]?.lastTransitionTime, NOW);
  });
});
