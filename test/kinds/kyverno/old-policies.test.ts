/** ClusterPolicies and Policies in an entry: converted when they are loaded. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Problem } from "../../../src/config/documents/problem.js";
import { parseResources } from "../../../src/config/documents/source-document.js";
import type { ResourceEntry } from "../../../src/config/entry.js";
import { parseConfig } from "../../../src/config/index.js";
import { kyvernoKind } from "../../../src/kinds/kyverno/kind.js";
import { LoadError } from "../../../src/kinds/load-error.js";
import { prepareDocuments } from "../../../src/kinds/resource-entry.js";
import { isExplainable } from "../../../src/kinds/shared/index.js";
import { type JsonObject, member } from "../../../src/kubernetes/object.js";
import type { Outcome, Policy } from "../../../src/policy/index.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { context, review } from "./asked.js";

interface Loaded {
  readonly policy: Policy;
  readonly problems: readonly Problem[];
}

async function load(text: string, more: Partial<ResourceEntry> = {}): Promise<Loaded> {
  const { documents, problems: wrong } = parseResources(text, "f.yaml");
  assert.deepEqual(wrong, []);
  const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
  assert.ok(holder.ok);
  const [first] = holder.config.entries;
  assert.ok(first?.kind === "cel");
  const { origin } = first;
  const about = { kind: "resource", id: "p", origin, policyMode: "protect", allowedToMutate: false } as const;
  const problems: Problem[] = [];
  const entry: ResourceEntry = { ...about, documents, ...more };
  const prepared = prepareDocuments(entry, [kyvernoKind()], (problem) => problems.push(problem));
  return { policy: await prepared.policy({ authorizer: NO_OPINION, now: () => 0 }), problems };
}

const pod = (spec: JsonObject, metadata: JsonObject = {}) =>
  review({
    object: { apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "ns", ...metadata }, spec },
  });
const configMap = review({
  kind: { group: "", version: "v1", kind: "ConfigMap" },
  resource: { group: "", version: "v1", resource: "configmaps" },
  object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web", namespace: "ns" } },
});
const HOST = pod({ hostNetwork: true });
const FINE = pod({ hostNetwork: false });

const asked = async (policy: Policy, about = HOST): Promise<Outcome> => policy.evaluate(about, context());

const rule = (name: string, body: string, match = "{any: [{resources: {kinds: [Pod]}}]}"): string =>
  `  - name: ${name}\n    match: ${match}\n    ${body}\n`;
const HOSTS = 'validate: {message: no host network, pattern: {spec: {=(hostNetwork): "false"}}}';
const SIGNED = 'verifyImages: [{imageReferences: ["*"]}]';
const old = (rules: string, spec = "validationFailureAction: Enforce", kind = "ClusterPolicy"): string =>
  `apiVersion: kyverno.io/v1\nkind: ${kind}\nmetadata: {name: old, namespace: ns}\nspec:\n  ${spec}\n  rules:\n${rules}---\n`;
const told = ({ problems }: Loaded): string[] =>
  problems
    .filter(({ severity }) => severity !== "note")
    .map(({ severity, line, path, message, code }) => `${severity} ${line} ${path.join(".")}: ${message} [${code}]`);

describe("a policy of the old language", () => {
  test("is asked like the policies that its rules become", async () => {
    const loaded = await load(old(rule("hosts", HOSTS)));
    assert.deepEqual(told(loaded), []);
    assert.equal(loaded.policy.implementation, "ClusterPolicy");
    const outcome = await asked(loaded.policy);
    assert.ok(outcome.verdict === "deny");
    assert.match(outcome.message ?? "", /^Policy old failed: validation error: no host network\. rule hosts failed/);
    assert.equal((await asked(loaded.policy, FINE)).verdict, "allow");
    assert.equal((await asked(loaded.policy, configMap)).verdict, "skip");
  });

  test("mutates by its rules in their order, whatever their names", async () => {
    const maps = "{any: [{resources: {kinds: [ConfigMap]}}]}";
    const [first, second] = ["{data: {first: '1'}}", "{data: {(first): '1', second: '2'}}"].map(
      (merge) => `mutate: {patchStrategicMerge: ${merge}}`,
    );
    const { policy } = await load(old(rule("z", first ?? "", maps) + rule("a", second ?? "", maps)));
    const outcome = await asked(policy, configMap);
    assert.ok(outcome.verdict === "allow" && outcome.mutation?.kind === "patch");
    assert.deepEqual(member(outcome.mutation.changed?.object, "data"), { first: "1", second: "2" });
  });

  test("of a namespace judges nothing elsewhere", async () => {
    const { policy } = await load(old(rule("hosts", HOSTS), "validationFailureAction: Enforce", "Policy"));
    assert.equal(policy.implementation, "Policy");
    assert.equal((await asked(policy)).verdict, "deny");
    assert.equal((await asked(policy, pod({ hostNetwork: true }, { namespace: "other" }))).verdict, "deny");
    const { request } = pod({ hostNetwork: true });
    assert.equal((await asked(policy, review({ ...request, namespace: "other" }))).verdict, "skip");
  });

  test("that Kyverno refuses is an error as a whole", async () => {
    await assert.rejects(load(old(rule("both", `${HOSTS}\n    ${SIGNED}`))), LoadError);
  });

  test("explains its expressions with their lines in the old file", async () => {
    const { policy } = await load(old(rule("hosts", HOSTS)));
    assert.ok(isExplainable(policy));
    const [explained] = policy.explained();
    assert.equal(explained?.title, "ClusterPolicy 'old', rule 'hosts'");
    const paths = explained?.variants.flatMap(({ expressions }) => expressions.map(({ path }) => path)) ?? [];
    assert.ok(paths.length > 0);
    for (const path of paths) assert.match(path, /^spec\.\w+\[\d+\]\.\w+ \(f\.yaml:(8|9)\)$/);
  });
});

describe("a rule that is not converted", () => {
  test("denies what it matches where its action is Enforce; the others are served", async () => {
    const loaded = await load(old(rule("signed", SIGNED) + rule("hosts", HOSTS)));
    assert.equal(told(loaded).length, 1);
    assert.match(
      told(loaded)[0] ?? "",
      /^error 9 spec\.rules\.0\.verifyImages: not converted: .*\[POLICY_NOT_CONVERTED\]$/,
    );
    assert.match(loaded.policy.notConverted?.join("; ") ?? "", /^signed: signatures/);
    const outcome = await asked(loaded.policy, FINE);
    assert.ok(outcome.verdict === "error");
    assert.match(outcome.message, /^Policy old-signed error: error: not converted: signatures/);
    assert.equal((await asked(loaded.policy)).verdict, "deny");
    assert.equal((await asked(loaded.policy, configMap)).verdict, "skip");
  });

  test("is an error that denies nothing where its action is Audit", async () => {
    const { policy } = await load(old(rule("signed", SIGNED), "validationFailureAction: Audit"));
    const outcome = await asked(policy, FINE);
    assert.equal(outcome.verdict, "allow");
    assert.deepEqual(
      outcome.found?.map(({ action, message }) => `${action} ${message.slice(0, 20)}`),
      ["Audit error: not converted"],
    );
    const reported = await load(old(rule("signed", SIGNED), "validationFailureAction: Audit"), {
      validationActions: ["Deny"],
    });
    assert.equal((await asked(reported.policy, FINE)).verdict, "error");
  });

  test("matches all objects of its kinds where the rest of its match is not converted", async () => {
    const roles = '{any: [{resources: {kinds: [Pod]}, roles: ["ns:r"]}]}';
    const loaded = await load(
      old(rule("hosts", HOSTS, roles), "validationFailureAction: Enforce\n  background: false", "Policy"),
    );
    assert.match(told(loaded)[0] ?? "", /spec\.rules\.0\.match.*not converted/);
    assert.equal((await asked(loaded.policy, FINE)).verdict, "error");
    assert.equal((await asked(loaded.policy, configMap)).verdict, "skip");
  });

  test("may be one whose expression does not compile: the mistake stands at its place", async () => {
    const cel = `validate: {cel: {expressions: [{expression: "object.spec.a == nope"}]}}`;
    const loaded = await load(old(rule("typo", cel) + rule("hosts", HOSTS)));
    assert.match(
      told(loaded)[0] ?? "",
      /^error 9 spec\.rules\.0\.validate\.cel\.expressions\.0\.expression: .*undeclared reference to 'nope'/,
    );
    assert.equal((await asked(loaded.policy, FINE)).verdict, "error");
  });

  test("is left out where another rule alone is asked for", async () => {
    const { policy } = await load(old(rule("signed", SIGNED) + rule("hosts", HOSTS)), { onlyRule: 1 });
    assert.equal((await asked(policy, FINE)).verdict, "allow");
    assert.deepEqual(policy.notConverted, []);
  });
});

describe("exceptions from policies of the old language", () => {
  const exception = (apiVersion: string, spec: string): string =>
    `apiVersion: ${apiVersion}\nkind: PolicyException\nmetadata: {name: e, namespace: ns}\nspec: ${spec}\n---\n`;
  const two = old(rule("hosts", HOSTS) + rule("signed", SIGNED));

  test("of the old language name policy and rules", async () => {
    const spec = (rules: string, name = "old"): string =>
      `{exceptions: [{policyName: ${name}, ruleNames: [${rules}]}], match: {any: [{resources: {kinds: [Pod], names: [web]}}]}}`;
    const exempt = await load(two + exception("kyverno.io/v2", spec('"*"')));
    assert.equal((await asked(exempt.policy)).verdict, "skip");
    const one = await load(two + exception("kyverno.io/v2", spec("signed")));
    assert.equal((await asked(one.policy)).verdict, "deny");
    assert.equal((await asked(one.policy, FINE)).verdict, "allow");
    const nobodys = await load(two + exception("kyverno.io/v2", spec('"*"', "other")));
    assert.match(
      told(nobodys).join("; "),
      /warning \d+ spec\.exceptions\.0\.policyName: the exception has no effect: no policy of this name.*NOT_CONVERTED/,
    );
    assert.equal((await asked(nobodys.policy)).verdict, "deny");
  });

  test("of the new one name what the rules become", async () => {
    const refs = (kind: string, ...names: string[]): string =>
      `{policyRefs: [${names.map((name) => `{kind: ${kind}, name: ${name}}`).join(", ")}]}`;
    const exempt = await load(
      two + exception("policies.kyverno.io/v1", refs("ValidatingPolicy", "old-hosts", "old-signed")),
    );
    assert.equal((await asked(exempt.policy)).verdict, "skip");
    const wrong = await load(two + exception("policies.kyverno.io/v1", refs("ClusterPolicy", "old")));
    assert.match(
      told(wrong).join("; "),
      /no effect: name what its rules become: ValidatingPolicy old-hosts, ValidatingPolicy old-signed/,
    );
  });
});
