import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { policiesSchema } from "../../src/config/json-schema.js";
import { loadConfig } from "../../src/config/load-config.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { entryOf, folder, problemsOf } from "./helpers.js";

const POLICY = "{apiVersion: policy.cert-manager.io/v1alpha1, kind: CertificateRequestPolicy, metadata: {name: p}}";
const validate = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }).compile(policiesSchema());

/** What comes of an entry with these settings, by the reader and by the schema. */
function read(context: TestContext, settings: string, files: Readonly<Record<string, string>> = {}) {
  const text = `p:\n  resource: crp.yaml\n  certificateRequests: ${settings}\n`;
  const root = folder(context, { "p.yaml": text, "crp.yaml": POLICY, ...files });
  const result = loadConfig(join(root, "p.yaml"));
  const problems = problemsOf(result).map((problem) => problem.slice(root.length + 1));
  return { result, problems, valid: validate(parseYamlDocuments(text)[0]) };
}

describe("the settings of CertificateRequestPolicies", () => {
  test("are taken as they are written; what is absent stays so", (context) => {
    const written = `{binding: map, bound: [{users: [a], serviceAccounts: ["n:s"], policies: ["p-*"], namespaces: ["*"]}],
      readiness: status, unprocessed: deny, invalidPolicies: keep, strictNames: true, verifySignature: true}`;
    const { result, valid } = read(context, written);
    assert.ok(result.ok && valid);
    assert.deepEqual(entryOf(result.config, "p", "resource").certificateRequests, {
      binding: "map",
      bound: [{ users: ["a"], serviceAccounts: ["n:s"], policies: ["p-*"], namespaces: ["*"] }],
      readiness: "status",
      unprocessed: "deny",
      invalidPolicies: "keep",
      strictNames: true,
      verifySignature: true,
    });
    for (const settings of ["{}", "{binding: sar}", "{readiness: null}"]) {
      const other = read(context, settings);
      assert.deepEqual(other.problems, []);
      assert.ok(other.valid);
    }
  });

  test("of no CertificateRequestPolicy mean nothing, and that is said", (context) => {
    const said = [
      "p.yaml:3:3: p.certificateRequests: has no meaning here: no document is a CertificateRequestPolicy of policy.cert-manager.io",
    ];
    for (const other of ["kind: ConfigMap", POLICY.replace("policy.cert", "policies.cert")]) {
      assert.deepEqual(read(context, "{}", { "crp.yaml": other }).problems, said);
    }
    const list = `{apiVersion: v1, kind: List, items: [${POLICY}]}`;
    assert.deepEqual(read(context, "{}", { "crp.yaml": list }).problems, []);
    const kubewarden = "{apiVersion: policies.kubewarden.io/v1, kind: AdmissionPolicy, spec: {module: ./x.wasm}}";
    assert.deepEqual(read(context, "{}", { "crp.yaml": kubewarden }).problems, [
      "p.yaml:3:3: p.certificateRequests: has no meaning here: the resource is a WASM policy",
    ]);
  });

  const mistakes: readonly (readonly [string, string])[] = [
    [
      "{binding: assume}",
      '3:34: p.certificateRequests.binding: expected one of rbac, map, sar, assume-bound, found the string "assume" (did you mean "assume-bound"?)',
    ],
    ["{unprocesed: deny}", '3:25: p.certificateRequests.unprocesed: unknown key (did you mean "unprocessed"?)'],
    ["{strictNames: 'yes'}", '3:38: p.certificateRequests.strictNames: expected true or false, found the string "yes"'],
    ["{binding: map}", '3:34: p.certificateRequests.binding: needs the key "bound": who may use which policies'],
    [
      "{bound: [{users: [a], policies: [p]}]}",
      '3:25: p.certificateRequests.bound: has no meaning here: only "binding: map" looks at it',
    ],
    ["{binding: map, bound: []}", "3:46: p.certificateRequests.bound: must not be empty"],
    [
      "{binding: map, bound: [{policies: [p]}]}",
      "3:47: p.certificateRequests.bound[0]: does not say who may use the policies: expected users, groups or serviceAccounts",
    ],
    [
      "{binding: map, bound: [{users: [], policies: [p]}]}",
      "3:55: p.certificateRequests.bound[0].users: must not be empty",
    ],
    [
      '{binding: map, bound: [{groups: ["*"], policies: [p]}]}',
      "3:57: p.certificateRequests.bound[0].groups[0]: is compared as it stands: a * matches no name; for all who are signed in, write the group system:authenticated",
    ],
    [
      '{binding: map, bound: [{serviceAccounts: ["a/b"], policies: [p]}]}',
      '3:66: p.certificateRequests.bound[0].serviceAccounts[0]: expected a service account as namespace:name, found "a/b"',
    ],
    [
      "{binding: map, bound: [{users: [a], policy: p, policies: [p]}]}",
      '3:60: p.certificateRequests.bound[0].policy: unknown key: write "policies", a list',
    ],
    [
      "{binding: map, bound: [{users: [a]}]}",
      '3:47: p.certificateRequests.bound[0]: missing key "policies": Names of policies that they may use; `*` stands for any text.',
    ],
  ];
  for (const [settings, problem] of mistakes) {
    test(`with a mistake are refused at its place: ${settings}`, (context) => {
      const { problems, valid } = read(context, settings);
      assert.deepEqual(problems, [`p.yaml:${problem}`]);
      assert.ok(!valid, "the schema refuses it, too");
    });
  }
});
