import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { questionOf } from "../../../src/kinds/certificate-request-policy/question.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { AdmissionRequest, Review } from "../../../src/policy/index.js";
import { certificateRequest, condition } from "./requests.js";

const KIND = { group: "cert-manager.io", version: "v1", kind: "CertificateRequest" };
const RESOURCE = { group: "cert-manager.io", version: "v1", resource: "certificaterequests" };
const BOB = { username: "bob", uid: "7", groups: ["dev", "ops"], extra: { scope: ["a"] } };

const admission = (request: Partial<AdmissionRequest>, targeted = false): Review => ({
  kind: "admission",
  request: {
    uid: "u",
    kind: KIND,
    resource: RESOURCE,
    operation: "CREATE",
    namespace: "prod",
    userInfo: BOB,
    ...request,
  },
  requestBytes: () => new Uint8Array(),
  ...(targeted && { targeted }),
});
const raw = (payload: unknown): Review => ({ kind: "raw", payload, requestBytes: () => new Uint8Array() });

/** What is asked in short: the purpose, or the verdict with its reason. */
function asked(review: Review): string {
  const question = questionOf(review);
  if (question.kind === "request") return question.purpose;
  const { outcome } = question;
  const code = "code" in outcome && outcome.code !== undefined ? ` ${outcome.code}` : "";
  const text = outcome.verdict === "skip" ? outcome.reason : (outcome.message ?? "");
  return `${outcome.verdict}${code}: ${text}`;
}

function requestOf(review: Review) {
  const question = questionOf(review);
  assert.ok(question.kind === "request", JSON.stringify(question));
  return question;
}

describe("an AdmissionReview asks (spec certificate-request-policy.md 7.3)", () => {
  const object = certificateRequest();

  test("whether a request may be made", () => {
    assert.equal(asked(admission({ object })), "creation");
  });

  test("nothing, where no request is made or approved", () => {
    const old = { object, oldObject: object };
    assert.match(asked(admission({ operation: "DELETE", oldObject: object })), /^skip: /);
    assert.match(asked(admission({ operation: "UPDATE", ...old })), /^skip: what is requested does not change/);
    assert.match(asked(admission({ subResource: "approval", object })), /^skip: /);
    const pods = { group: "", version: "v1", resource: "pods" };
    assert.match(asked(admission({ resource: pods, object: { kind: "Pod" } })), /^skip: pods are no/);
  });

  test("about a changed request as about a new one, decided or not", () => {
    const decided = certificateRequest({ isCA: true }, { status: condition("Approved") });
    assert.equal(asked(admission({ operation: "UPDATE", object: decided, oldObject: object })), "creation");
    assert.equal(asked(admission({ operation: "UPDATE", object })), "creation");
  });

  test("nothing about a change of labels, whatever numbers newer fields hold", () => {
    const before = certificateRequest({ later: 2n ** 70n, username: "eve" });
    const { spec, ...rest } = certificateRequest({ username: "eve", later: 2n ** 70n });
    const after = { ...rest, metadata: { name: "req-1", labels: { a: "b" } }, spec };
    assert.match(asked(admission({ operation: "UPDATE", object: after, oldObject: before })), /^skip: /);
  });

  test("and who made a request stays who made it", () => {
    const made = certificateRequest({ username: "eve", groups: ["x"] });
    const taken = certificateRequest({ username: "admin", groups: ["dev"], isCA: true });
    assert.equal(
      asked(admission({ operation: "UPDATE", object: taken, oldObject: made })),
      "deny 403: [spec.username: Forbidden: username identity cannot be changed once set, " +
        "spec.groups: Forbidden: groups identity cannot be changed once set]",
    );
    assert.match(
      asked(admission({ operation: "UPDATE", object: taken })),
      /^deny 403: .* must be that of the requester/,
    );
  });

  test("the same where a group asks about the object by a value", () => {
    const forged = certificateRequest({ username: "admin" });
    assert.match(asked(admission({ object: forged }, true)), /^deny 403: /);
    const approved = certificateRequest({}, { status: condition("Approved") });
    const status = { operation: "UPDATE", subResource: "status" };
    assert.equal(asked(admission({ ...status, object: approved }, true)), "approval");
    assert.equal(asked(admission({ ...status, object }, true)), "decision");
    const pods = { group: "", version: "v1", resource: "pods" };
    assert.equal(asked(admission({ resource: pods, object: forged }, true)), "decision");
  });

  test("whether somebody may approve a request, when an approval is new", () => {
    const approved = certificateRequest({}, { status: condition("Approved") });
    const denied = certificateRequest({}, { status: condition("Denied") });
    const status = { operation: "UPDATE", subResource: "status" };
    assert.equal(asked(admission({ ...status, object: approved, oldObject: object })), "approval");
    assert.equal(asked(admission({ ...status, object: approved })), "approval");
    const unsure = certificateRequest({}, { status: condition("Approved", "False") });
    assert.equal(asked(admission({ ...status, object: approved, oldObject: unsure })), "approval");
    for (const [to, from] of [
      [approved, approved],
      [denied, object],
      [unsure, object],
      [object, object],
    ])
      assert.match(asked(admission({ ...status, object: to, oldObject: from })), /^skip: no request is approved/);
  });

  test("a status that comes with a new request does not decide it", () => {
    const decided = certificateRequest({}, { status: condition("Approved") });
    assert.equal(asked(admission({ object: decided })), "creation");
  });

  test("what nobody can tell is an error", () => {
    const beta = { ...RESOURCE, version: "v1beta1" };
    assert.match(asked(admission({ resource: beta, object })), /^error: CertificateRequests of version "v1beta1"/);
    assert.match(asked(admission({ operation: "APPROVE", object })), /^error: the request's operation/);
    assert.match(asked(admission({ object: undefined })), /^error 400: /);
    assert.match(asked(admission({ object: certificateRequest({ isCA: "no" }) })), /^error 400: spec\.isCA: /);
    assert.match(asked(admission({ object: certificateRequest({ request: "###" }) })), /^error 400: spec\.request: /);
  });

  test("the request's namespace counts, whatever the object says", () => {
    assert.equal(requestOf(admission({ object })).request.namespace, "prod");
    assert.equal(requestOf(admission({ object }, true)).request.namespace, "prod");
  });
});

describe("who makes a request (spec certificate-request-policy.md 7.3)", () => {
  test("is written down when nobody has yet", () => {
    const { request } = requestOf(admission({ object: certificateRequest() }));
    assert.deepEqual(
      [request.username, request.uid, request.groups, request.extra],
      ["bob", "7", ["dev", "ops"], BOB.extra],
    );
  });

  test("must be who the object says", () => {
    const { username, uid, extra } = BOB;
    const own = { username, uid, groups: ["ops", "dev"], extra };
    assert.equal(asked(admission({ object: certificateRequest(own) })), "creation");
    const forged: Readonly<Record<string, JsonObject>> = {
      username: { ...own, username: "alice" },
      uid: { ...own, uid: "8" },
      groups: { ...own, groups: ["dev", "ops", "admins"] },
      extra: { ...own, extra: { scope: ["a", "b"] } },
    };
    assert.equal(
      asked(admission({ object: certificateRequest({ groups: ["system:masters"], uid: BOB.uid, extra: BOB.extra }) })),
      "deny 403: [spec.username: Forbidden: username identity must be that of the requester, " +
        "spec.groups: Forbidden: groups identity must be that of the requester]",
    );
    for (const [field, spec] of Object.entries(forged)) {
      const text = `deny 403: spec.${field}: Forbidden: ${field} identity must be that of the requester`;
      assert.equal(asked(admission({ object: certificateRequest(spec) })), text);
    }
    assert.equal(
      asked(admission({ object: certificateRequest({ username: "alice", groups: [] }) })),
      "deny 403: [spec.uid: Forbidden: uid identity must be that of the requester, " +
        "spec.username: Forbidden: username identity must be that of the requester, " +
        "spec.groups: Forbidden: groups identity must be that of the requester, " +
        "spec.extra: Forbidden: extra identity must be that of the requester]",
    );
  });

  test("has groups in any order, and ten thousand of them take no longer than a glance", () => {
    const groups = Array.from({ length: 10_000 }, (_, i) => `group-${i}`);
    const object = certificateRequest({ ...BOB, groups });
    const before = process.cpuUsage();
    assert.equal(asked(admission({ object, userInfo: { ...BOB, groups: [...groups].reverse() } })), "creation");
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 2_000_000, `${user + system} µs`);
  });

  test("is not who approves it", () => {
    const object = certificateRequest({ username: "alice" }, { status: condition("Approved") });
    const { request } = requestOf(admission({ operation: "UPDATE", subResource: "status", object }));
    assert.equal(request.username, "alice");
  });
});

describe("a raw review asks (spec certificate-request-policy.md 7.4)", () => {
  test("what becomes of a request, whatever its status says", () => {
    const object = certificateRequest({ username: "alice" }, { status: condition("Approved") });
    const { purpose, request } = requestOf(raw(object));
    assert.deepEqual([purpose, request.username, request.namespace], ["decision", "alice", "sandbox"]);
  });

  test("with labels of its Namespace and a signing request beside it", () => {
    const { request, namespaceLabels } = requestOf(
      raw({ certificateRequest: certificateRequest(), namespace: { labels: { tier: "dev" } }, csrPem: "PEM" }),
    );
    assert.deepEqual([request.request.toString(), namespaceLabels], ["PEM", { tier: "dev" }]);
    assert.deepEqual(requestOf(raw({ certificateRequest: certificateRequest(), namespace: {} })).namespaceLabels, {});
    assert.equal(requestOf(raw({ certificateRequest: certificateRequest(), uid: "1" })).namespaceLabels, undefined);
  });

  test("and must be well-formed", () => {
    const wrapped = { certificateRequest: certificateRequest() };
    const texts: [unknown, RegExp][] = [
      [null, /a CertificateRequest must be an object/],
      [{}, /a CertificateRequest of cert-manager\.io\/v1 was expected/],
      [{ certificateRequest: null }, /a CertificateRequest must be an object/],
      [{ ...wrapped, csr: "x" }, /there is no member "csr"/],
      [{ ...wrapped, csrPem: 1 }, /csrPem: must be a string/],
      [{ ...wrapped, namespace: null }, /namespace: must have labels/],
      [{ ...wrapped, namespace: { labels: { a: 1 } } }, /namespace: must have labels/],
      [{ ...wrapped, namespace: { label: {} } }, /namespace: must have labels/],
    ];
    for (const [payload, text] of texts) {
      const found = asked(raw(payload));
      assert.match(found, /^error 400: /);
      assert.match(found, text);
    }
  });
});
