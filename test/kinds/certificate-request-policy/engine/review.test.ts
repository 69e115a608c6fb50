import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import { RbacAuthorizer } from "../../../../src/world/authorizer/rbac-authorizer.js";
import { readRbacObject } from "../../../../src/world/authorizer/rbac-objects.js";
import { FileResources } from "../../../../src/world/resources/file-resources.js";
import { attribute, der, oid, pem, request as requestOf } from "../../../x509/pkcs10/requests.js";
import { decisionOf, policy, request, type Stored, saidOf, worldWith } from "./asked.js";

const UNBOUND = "Unprocessed: No CertificateRequestPolicies bound or applicable";
const approvedBy = (name: string): string => `Approved: Approved by CertificateRequestPolicy: "${name}"`;
const nobody = worldWith({ authorizer: { authorize: () => ({ decision: "noOpinion", reason: "" }) } });
const GARBAGE = request({ request: Buffer.from("garbage") });
/** For a certificate for `cn` and a DNS name. */
const asking = (cn: string, ...dns: readonly string[]) =>
  request({
    request: pem(
      requestOf({
        names: [attribute("2.5.4.3", der(0x0c, Buffer.from(cn)))],
        ...(dns.length > 0 && { alternatives: dns.map((name) => der(0x82, Buffer.from(name))) }),
      }),
    ),
  });
const M = 'spec.allowed.commonName: Invalid value: "x": no allowed value';
const X = asking("x");
const taking = (name: string, stored: Stored = {}) =>
  policy({ allowed: { commonName: { value: "*" } } }, { name, ...stored });
const refusing = (name: string, stored: Stored = {}) => policy({}, { name, ...stored });

describe("which policies decide (spec certificate-request-policy.md 8.5)", () => {
  test("75: none", async () => assert.equal(await saidOf([]), "Unprocessed: No CertificateRequestPolicies exist"));
  test("76: none that the requester may use", async () =>
    assert.equal(await saidOf([policy()], request(), { world: nobody }), UNBOUND));
  test("77: where none applies nobody reads the signing request", async () => {
    assert.equal(await saidOf([policy()], GARBAGE, { world: nobody }), UNBOUND);
    assert.match(await saidOf([policy()], GARBAGE), /^Error: /);
  });

  const selecting = (selector: JsonObject) => policy({ selector });
  test("78: what a request does not say of its issuer", async () => {
    const issuerRef = { name: "i", kind: "Issuer", group: "cert-manager.io" };
    assert.equal(await saidOf([selecting({ issuerRef })]), approvedBy("p"));
    assert.equal(await saidOf([selecting({ issuerRef: { ...issuerRef, kind: "ClusterIssuer" } })]), UNBOUND);
    assert.equal(await saidOf([selecting({ issuerRef: { ...issuerRef, group: "acme.example" } })]), UNBOUND);
  });
  test("79: patterns of an issuer", async () => {
    const issuerRef = { name: "test-*", kind: "*-kind", group: "*up" };
    const asked = request({ issuerRef: { name: "test-name", kind: "test-kind", group: "test-group" } });
    assert.equal(await saidOf([selecting({ issuerRef })], asked), approvedBy("p"));
    assert.equal(await saidOf([selecting({ issuerRef })]), UNBOUND);
  });
  test("80: an empty kind fits no request", async () => {
    for (const kind of ["", "Issuer"]) {
      const asked = request({ issuerRef: { name: "i", kind, group: "" } });
      assert.equal(await saidOf([selecting({ issuerRef: { kind: "" } })], asked), UNBOUND);
    }
  });
  test("81: names of namespaces need no Namespace", async () => {
    assert.equal(await saidOf([selecting({ namespace: { matchNames: ["bar"] } })]), UNBOUND);
    assert.equal(await saidOf([selecting({ namespace: { matchNames: ["bar", "f*"] } })]), approvedBy("p"));
  });
  test("82: labels need one", async () =>
    assert.equal(
      await saidOf([selecting({ namespace: { matchLabels: { a: "b" } } }), taking("z")]),
      'Error: failed to perform predicate on policies: failed to get request\'s namespace to determine namespace selector: namespaces "foo" not found',
    ));
  test("83: names and labels", async () => {
    const selector = { namespace: { matchNames: ["fo*"], matchLabels: { a: "b" } } };
    for (const [a, said] of [
      ["c", UNBOUND],
      ["b", approvedBy("p")],
    ] as const) {
      const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "foo", labels: { a } } };
      const world = worldWith({ resources: new FileResources([namespace]) });
      assert.equal(await saidOf([selecting(selector)], request(), { world }), said);
      assert.equal(await saidOf([selecting(selector)], request(), { namespaceLabels: { a } }), said);
    }
  });

  describe("84: roles and bindings", () => {
    const rules = [
      {
        apiGroups: ["policy.cert-manager.io"],
        resources: ["certificaterequestpolicies"],
        resourceNames: ["p"],
        verbs: ["use"],
      },
    ];
    const API = "rbac.authorization.k8s.io";
    const subjects = [{ kind: "User", name: "bob", apiGroup: API }];
    const made = (kind: string, namespace: string | undefined, more: JsonObject): JsonObject => ({
      apiVersion: `${API}/v1`,
      kind,
      metadata: { name: "use-p", ...(namespace !== undefined && { namespace }) },
      ...more,
    });
    const bound = (kind: string, role: string, namespace?: string): JsonObject =>
      made(kind, namespace, { subjects, roleRef: { apiGroup: API, kind: role, name: "use-p" } });
    const cases: readonly (readonly [string, readonly JsonObject[], string])[] = [
      [
        "a ClusterRole everywhere",
        [made("ClusterRole", undefined, { rules }), bound("ClusterRoleBinding", "ClusterRole")],
        approvedBy("p"),
      ],
      ["a Role here", [made("Role", "foo", { rules }), bound("RoleBinding", "Role", "foo")], approvedBy("p")],
      ["a Role elsewhere", [made("Role", "bar", { rules }), bound("RoleBinding", "Role", "bar")], UNBOUND],
    ];
    for (const [title, objects, said] of cases) {
      test(title, async () => {
        const read = objects
          .map(readRbacObject)
          .map((each) => ("kind" in each ? each : assert.fail(JSON.stringify(each))));
        const world = worldWith({ authorizer: new RbacAuthorizer(read) });
        assert.equal(await saidOf([policy()], request({ username: "bob" }), { world }), said);
        assert.equal(await saidOf([policy()], request({ username: "alice" }), { world }), UNBOUND);
        assert.equal(await saidOf([policy({}, { name: "q" })], request({ username: "bob" }), { world }), UNBOUND);
      });
    }
  });
});

describe("what several policies come to (spec certificate-request-policy.md 8.5)", () => {
  const status = { readiness: "status" } as const;

  test("85: all that deny are named, in the order of their names", async () =>
    assert.equal(
      await saidOf([refusing("b"), refusing("a")], X),
      `Denied: No policy approved this request: [a: ${M}] [b: ${M}]`,
    ));
  test("86: one that approves is enough", async () =>
    assert.equal(await saidOf([refusing("a"), taking("b")], X), approvedBy("b")));
  test("87: nothing is denied while a policy has no condition", async () =>
    assert.equal(
      await saidOf([refusing("a", { ready: "True" }), taking("b")], X, status),
      `Unprocessed: Not all policies are ready for evaluation; refusing to deny pending policy readiness: [a: ${M}]`,
    ));
  test("88: one that is not ready is not waited for", async () =>
    assert.equal(
      await saidOf([refusing("a", { ready: "True" }), taking("b", { ready: "False" })], X, status),
      `Denied: No policy approved this request: [a: ${M}]`,
    ));
  test("89: approving waits for nobody", async () =>
    assert.equal(await saidOf([taking("a", { ready: "True" }), taking("b")], X, status), approvedBy("a")));
  test("90: none is ready", async () =>
    assert.equal(await saidOf([taking("a", { ready: "False" }), taking("b", { ready: "False" })], X, status), UNBOUND));
  test("what conditions say does not matter where every policy is ready", async () =>
    assert.equal(await saidOf([taking("a", { ready: "False" })], X), approvedBy("a")));
  test("91: what policies allow is not put together", async () => {
    const cn = policy({ allowed: { commonName: { value: "*" } } }, { name: "a" });
    const dns = policy({ allowed: { dnsNames: { values: ["*"] } } }, { name: "b" });
    assert.equal(
      await saidOf([cn, dns], asking("x", "y")),
      `Denied: No policy approved this request: [a: spec.allowed.dnsNames: Invalid value: ["y"]: no allowed values] [b: ${M}]`,
    );
  });

  test("each policy's account says how far it came", async () => {
    const elsewhere = policy({ selector: { issuerRef: { name: "other" } } }, { name: "e" });
    const decision = await decisionOf([taking("c"), refusing("a"), taking("b"), elsewhere], X);
    const objection = { path: "spec.allowed.commonName", text: M };
    const used = { selected: true, bound: true, ready: true };
    assert.deepEqual(decision.accounts(), [
      { name: "a", ...used, objections: { allowed: [objection], constraints: [] } },
      { name: "b", ...used, objections: { allowed: [], constraints: [] } },
      { name: "c", ...used, objections: undefined },
      { name: "e", selected: false, bound: undefined, ready: true, objections: undefined },
    ]);
  });
});

describe("an otherName that is not UTF-8 (docs/certificate-request-policies.md, where we differ on purpose)", () => {
  const UPN = "1.3.6.1.4.1.311.20.2.3";
  const named = (...octets: readonly number[]) =>
    request({
      request: pem(requestOf({ alternatives: [der(0xa0, oid(UPN), der(0xa0, der(0x0c, Buffer.from(octets))))] })),
    });

  test("is denied, whatever rules and patterns make of it", async () => {
    for (const rule of ["self.charAt(1) != '\\ufffd'", "bytes(self).size() > 1", "true"]) {
      const otherNames = [{ oid: UPN, values: ["*"], validations: [{ rule }] }];
      assert.equal(
        await saidOf([policy({ allowed: { otherNames } })], named(0x61, 0xff)),
        "Denied: No policy approved this request: [p: subjectAltName (SAN) extension could not be decoded: the value of an otherName is not valid UTF-8]",
      );
    }
  });
});
