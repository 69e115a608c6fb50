/** What can never deny is said, unless the configuration says that it is meant. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseConfig } from "../../src/config/load-config.js";
import { createLoader } from "../../src/loader/index.js";

const RULES = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
};
const VALIDATIONS = [{ expression: "has(object.metadata.labels)", message: "no labels" }];

const kyverno = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name, ...metadata },
  spec: { matchConstraints: RULES, validations: VALIDATIONS, ...spec },
});

const vap = (name: string, spec: object = {}): object => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name },
  spec: { matchConstraints: RULES, validations: VALIDATIONS, ...spec },
});

const binding = (policyName: string, name: string, ...validationActions: readonly string[]): object => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name },
  spec: { policyName, validationActions },
});

const map: object = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingAdmissionPolicy",
  metadata: { name: "m" },
  spec: {
    matchConstraints: RULES,
    reinvocationPolicy: "Never",
    mutations: [
      {
        patchType: "JSONPatch",
        jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels", value: {}}]' },
      },
    ],
  },
};

const ANNOTATIONS_ONLY = { validations: [], auditAnnotations: [{ key: "k", valueExpression: "'v'" }] };

const FILES: Readonly<Record<string, readonly object[]>> = {
  "audit.json": [kyverno("a", { validationActions: ["Audit"] })],
  "warn.json": [kyverno("w", { validationActions: ["Warn", "Audit"] })],
  "namespaced.json": [
    { ...kyverno("n", { validationActions: ["Audit"] }, { namespace: "x" }), kind: "NamespacedValidatingPolicy" },
  ],
  "deny.json": [kyverno("d", { validationActions: ["Deny"] })],
  "default.json": [kyverno("d")],
  "json-mode.json": [kyverno("j", { validationActions: ["Audit"], evaluation: { mode: "JSON" } })],
  "vap-audit.json": [vap("v"), binding("v", "b1", "Audit"), binding("v", "b2", "Warn")],
  "vap-one-denies.json": [vap("v"), binding("v", "b1", "Audit"), binding("v", "b2", "Deny", "Audit")],
  "vap-unbound.json": [vap("v")],
  "annotations.json": [vap("v", ANNOTATIONS_ONLY), binding("v", "b", "Audit")],
  "mutates.json": [map],
  "several.json": [vap("v"), binding("v", "b", "Warn"), kyverno("a", { validationActions: ["Audit"] })],
  "mixed.json": [kyverno("a", { validationActions: ["Audit"] }), kyverno("d", { validationActions: ["Deny"] })],
  "mixed-kinds.json": [map, vap("v"), binding("v", "b", "Audit")],
};

describe("what can never deny", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "never-"));
    for (const [name, documents] of Object.entries(FILES)) {
      // YAML documents in JSON.
      writeFileSync(join(folder, name), documents.map((each) => JSON.stringify(each)).join("\n---\n"));
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  /** The warnings about a configuration: path and message. */
  async function warnings(text: string): Promise<readonly string[]> {
    const loader = createLoader({ downloadDirectory: "/nonexistent" });
    try {
      const read = parseConfig(text, join(folder, "policies.yaml"));
      assert.ok(read.ok, JSON.stringify(read));
      const loaded = await loader.load(read.config);
      const errors = [...read.problems, ...loaded.problems].filter(({ severity }) => severity === "error");
      assert.deepEqual(errors, []);
      for (const { hint } of loaded.neverDenying) assert.match(hint ?? "", /validationActions: \[Deny\]/);
      return loaded.neverDenying.map(
        ({ path, message }) => `${path.join(".")}: ${message.replace(/:? without .*/, "")}`,
      );
    } finally {
      loader.close();
    }
  }

  for (const [file, names] of [
    ["audit.json", "a"],
    ["warn.json", "w"],
    ["namespaced.json", "n"],
    ["json-mode.json", "j"],
    ["vap-audit.json", "v"],
    ["several.json", "v, a"],
  ] as const) {
    test(`an entry: ${file}`, async () => {
      const resource = file === "namespaced.json" ? "x/n" : names;
      assert.deepEqual(await warnings(`p: { resource: ${file} }`), [`p.resource: ${resource} can never deny`]);
    });
  }

  for (const [file, text] of [
    ["mixed.json", "1 of 2 policies: a can never deny"],
    ["mixed-kinds.json", "1 of 2 policies: v can never deny"],
  ] as const) {
    test(`some of an entry: ${file}`, async () => {
      assert.deepEqual(await warnings(`p: { resource: ${file} }`), [`p.resource: ${text}`]);
      const member = `g: { expression: m(), message: x, policies: { m: { resource: ${file} } } }`;
      assert.deepEqual(
        await warnings(member),
        [`g.policies.m.resource: ${text}`],
        "a member that may be false is not true always",
      );
    });
  }

  for (const file of [
    "deny.json",
    "default.json",
    "vap-one-denies.json",
    "vap-unbound.json",
    "annotations.json",
    "mutates.json",
  ]) {
    test(`nothing is said about ${file}`, async () => {
      assert.deepEqual(await warnings(`p: { resource: ${file} }`), []);
    });
  }

  test("nothing is said where the entry says that it is meant", async () => {
    for (const said of [
      "policyMode: monitor",
      "validationActions: [Audit]",
      "validationActions: [Warn]",
      "validationActions: [Deny]",
    ]) {
      assert.deepEqual(await warnings(`p: { resource: several.json, ${said} }`), [], said);
    }
    assert.deepEqual(
      await warnings(`p: { cel: { validations: [{ expression: "false" }] }, validationActions: [Audit] }`),
      [],
    );
  });

  const group = (member: string, more = ""): string =>
    `g: { expression: m(), message: x, policies: { m: { ${member} } } ${more} }\n`;
  const ALWAYS = "g.policies.m: the member m can never deny, so that the expression always takes m() as true";

  test("a member is always true, of its own or by its name, in a list, too", async () => {
    const own = `${ALWAYS}: no Deny is among the validationActions of a`;
    assert.deepEqual(await warnings(group("resource: audit.json")), [own]);
    const [, second] = await warnings(`p: { resource: audit.json }\n${group("policy: p")}`);
    assert.equal(second, own);
    const list = "g: { expression: m(), message: x, policies: [{ name: m, resource: audit.json }] }";
    assert.deepEqual(await warnings(list), [own.replace("policies.m", "policies.0")]);
  });

  test("a group of such members is one, unless its expression may be false", async () => {
    const inner = (expression: string): string =>
      `{ expression: "${expression}", message: inner, policies: { a: { resource: audit.json }, d: { resource: deny.json } } }`;
    const outer = (expression: string): string =>
      `g: { expression: m(), message: x, policies: { m: ${inner(expression)} } }`;
    assert.equal((await warnings(outer("a() || d()"))).at(-1), ALWAYS);
    assert.equal(
      (await warnings(outer("a() && d()"))).at(-1)?.startsWith("g.policies.m.policies.a: the member a"),
      true,
    );
    assert.equal((await warnings(outer("a(object) && !d()"))).length, 1);
  });

  test("nothing is said about members that are meant, and in a group in monitor mode", async () => {
    assert.deepEqual(await warnings(group("resource: audit.json, validationActions: [Audit]")), []);
    assert.deepEqual(await warnings(group("resource: audit.json, validationActions: [Deny]")), []);
    assert.deepEqual(await warnings(group("resource: audit.json", ", policyMode: monitor")), []);
    const meant = `p: { resource: audit.json, validationActions: [Audit] }\n${group("policy: p")}`;
    assert.deepEqual(await warnings(`${meant}o: { expression: h(), message: x, policies: { h: { policy: g } } }`), []);
  });
});
