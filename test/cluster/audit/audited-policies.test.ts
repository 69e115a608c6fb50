import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import type { ClusterDocument } from "../../../src/config/from-cluster/index.js";
import { audit, configMap } from "./support.js";

const MODULE = `file://${resolve("policies/trusted-registries/policy.wasm")}`;

function document(kind: string, name: string, spec: object, more: object = {}): ClusterDocument {
  const group =
    /Admission(?:Policy|PolicyGroup)$/.test(kind) && !kind.startsWith("Validating")
      ? "policies.kubewarden.io"
      : kind.startsWith("ValidatingAdmission")
        ? "admissionregistration.k8s.io"
        : kind === "GlobalContextEntry" || kind === "ClusterPolicy"
          ? "kyverno.io"
          : "policies.kyverno.io";
  const metadata = { name, uid: `uid-${name}`, resourceVersion: "7", ...more };
  const namespace = (more as { namespace?: string }).namespace ?? "";
  return {
    key: `${group}/${kind}/${namespace}/${name}`,
    uid: metadata.uid,
    resourceVersion: "7",
    generation: 1,
    text: JSON.stringify(
      { apiVersion: `${group}/${kind === "GlobalContextEntry" ? "v2beta1" : "v1"}`, kind, metadata, spec },
      undefined,
      4,
    ),
  };
}

const rules = (more: object = {}) => [
  { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], ...more },
];
const kubewarden = (more: object = {}) => ({
  module: MODULE,
  settings: { registries: ["good.example"] },
  mutating: false,
  rules: rules(),
  ...more,
});
const pod = (name: string, image: string, more: object = {}) => ({
  metadata: { name, namespace: "shop", uid: `uid-${name}`, ...more },
  spec: { containers: [{ name: "a", image }] },
});
const constraints = (resources: readonly string[], operations = ["CREATE"]) => ({
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations, resources }],
});

async function found(
  context: Parameters<typeof audit>[0],
  documents: readonly ClusterDocument[],
  ...pods: ReturnType<typeof pod>[]
) {
  const begun = await audit(context);
  for (const each of pods) begun.server.put("pods", each);
  begun.server.put("configmaps", configMap("map", { a: "b" }));
  begun.server.put("namespaces", { metadata: { name: "other", uid: "uid-other" } });
  begun.source.take({ version: 1, base: 0, put: documents, removed: [], sets: [] });
  const loaded = await begun.source.load();
  begun.runner.use(loaded);
  const finished = await begun.run();
  const results = Object.fromEntries(
    [...finished.summary.results].map(([id, counts]) => [id, Object.fromEntries(counts)]),
  );
  return {
    ...begun,
    finished,
    results,
    leftOut: loaded.leftOut.map(({ id, reason, isProblem }) => [id, reason, isProblem]),
  };
}

const resultsOf = (report: unknown): readonly Record<string, unknown>[] =>
  (report as { readonly results?: readonly Record<string, unknown>[] } | undefined)?.results ?? [];

describe("policies for the background", () => {
  test("of Kubewarden are asked within their webhooks' selectors, as its scanner asks", async (context) => {
    const selectors = {
      objectSelector: { matchLabels: { app: "x" } },
      namespaceSelector: { matchLabels: { team: "shop" } },
      mode: "monitor",
    };
    const { finished, results, server } = await found(
      context,
      [
        document("ClusterAdmissionPolicy", "registries", kubewarden(selectors), {
          annotations: { "io.kubewarden.policy.category": "Images" },
        }),
      ],
      pod("bad", "bad.example/a", { labels: { app: "x" } }),
      pod("good", "good.example/a", { labels: { app: "x" } }),
      pod("unlabelled", "bad.example/a"),
      pod("elsewhere", "bad.example/a", { labels: { app: "x" }, namespace: "other" }),
    );
    assert.deepEqual(finished.summary.problems, []);
    assert.deepEqual(results, { "clusterwide-registries": { pass: 1, fail: 1 } });
    const [report] = server.objects("reports");
    const [result] = resultsOf(report);
    assert.deepEqual(
      { ...result, message: undefined, timestamp: undefined },
      {
        source: "kubewarden",
        policy: "clusterwide-registries",
        category: "Images",
        severity: "info",
        result: "fail",
        scored: true,
        message: undefined,
        timestamp: undefined,
        properties: {
          "policy-name": "registries",
          "policy-resource-version": "7",
          "policy-uid": "uid-registries",
          validating: "true",
        },
      },
    );
  });

  test("of Kyverno's old language have a result for each rule", async (context) => {
    const rule = (name: string, body: object) => ({
      name,
      match: { any: [{ resources: { kinds: ["Pod"] } }] },
      ...body,
    });
    const spec = {
      rules: [
        rule("registry", {
          validate: { message: "bad", pattern: { spec: { containers: [{ image: "good.example/*" }] } } },
        }),
        rule("signed", { verifyImages: [{ imageReferences: ["*"] }] }),
      ],
    };
    const { server, results } = await found(
      context,
      [document("ClusterPolicy", "old", spec), document("ClusterPolicy", "off", { ...spec, background: false })],
      pod("bad", "bad.example/a"),
    );
    assert.deepEqual(results, {
      "clusterpolicy-old/registry": { fail: 1 },
      "clusterpolicy-old/signed": { error: 1 },
    });
    const [report] = server.objects("reports");
    assert.deepEqual(
      resultsOf(report).map(({ source, policy, rule: name, result }) => [source, policy, name, result]),
      [
        ["kyverno", "old", "registry", "fail"],
        ["kyverno", "old", "signed", "error"],
      ],
    );
  });

  test("of a namespace are for its objects only", async (context) => {
    const spec = { matchConstraints: constraints(["pods"]), validations: [{ expression: "false" }] };
    const { results, leftOut } = await found(
      context,
      [
        document("NamespacedValidatingPolicy", "never", spec, { namespace: "shop" }),
        document("AdmissionPolicy", "registries", kubewarden(), { namespace: "shop" }),
      ],
      pod("bad", "bad.example/a"),
      pod("elsewhere", "bad.example/a", { namespace: "other" }),
    );
    assert.deepEqual(results, { "namespacedvalidatingpolicy-shop-never": { fail: 1 } });
    assert.match(String(leftOut[0]?.[1]), /namespaced policies can't have modules that are files of the server/);
  });

  test("are not those whose authors say so, and not those that can't be", async (context) => {
    const { leftOut, results } = await found(
      context,
      [
        document("ClusterAdmissionPolicy", "a-off", kubewarden({ backgroundAudit: false })),
        document("ClusterAdmissionPolicy", "b-wild", kubewarden({ rules: rules({ resources: ["*"] }) })),
        document("ClusterAdmissionPolicy", "c-delete", kubewarden({ rules: rules({ operations: ["DELETE"] }) })),
        document("ClusterAdmissionPolicy", "d-missing", kubewarden({ module: "file:///nowhere.wasm" })),
        document("ValidatingPolicy", "e-off", {
          matchConstraints: constraints(["pods"]),
          evaluation: { background: { enabled: false } },
          validations: [{ expression: "false" }],
        }),
        document("ValidatingPolicy", "f-delete", {
          matchConstraints: constraints(["pods"], ["DELETE"]),
          validations: [{ expression: "false" }],
        }),
      ],
      pod("a", "bad.example/a"),
    );
    assert.deepEqual(results, {});
    assert.deepEqual(
      leftOut.map(([id, reason, isProblem]) => [id, String(reason).slice(0, 41), isProblem]),
      [
        ["clusterwide-a-off", "it is not for the background", false],
        ["clusterwide-b-wild", "its rules have wildcards", false],
        ["clusterwide-c-delete", "its rules are not for the creation of obj", false],
        ["clusterwide-d-missing", "cannot read nowhere.wasm".slice(0, 41), true],
        ["validatingpolicy-e-off", "it is not for the background", false],
        ["validatingpolicy-f-delete", "its rules are not for the creation of obj", false],
      ].map(([id, reason, isProblem], i) => [id, i === 3 ? String(leftOut[3]?.[1]).slice(0, 41) : reason, isProblem]),
    );
  });

  test("of Kyverno are for pods' controllers, too, and exceptions hold", async (context) => {
    const { finished, results, server, run } = await found(
      context,
      [
        document("ValidatingPolicy", "image", {
          validationActions: ["Audit"],
          matchConstraints: constraints(["pods"]),
          validations: [
            { expression: "object.spec.containers.all(c, c.image.startsWith('good'))", message: "bad image" },
          ],
        }),
        document(
          "PolicyException",
          "exempt",
          {
            policyRefs: [{ name: "image", kind: "ValidatingPolicy" }],
            matchConditions: [{ name: "named", expression: "object.metadata.name == 'exempt'" }],
          },
          { namespace: "shop" },
        ),
      ],
      pod("bad", "bad.example/a"),
      pod("good", "good.example/a"),
      pod("exempt", "bad.example/a"),
    );
    assert.deepEqual(finished.leftOut, []);
    assert.deepEqual(results, { "validatingpolicy-image": { pass: 1, fail: 1, skip: 1 } });
    const [report] = server.objects("reports");
    const [result] = resultsOf(report);
    assert.deepEqual(
      [result?.policy, result?.source, result?.message],
      ["image", "KyvernoValidatingPolicy", "bad image"],
    );
    server.put("deployments", {
      metadata: { name: "d", namespace: "shop", uid: "uid-d" },
      spec: { template: { spec: { containers: [{ image: "bad" }] } } },
    });
    assert.equal((await run()).counts.fail, 2);
  });

  test("of Kubernetes count as their bindings' actions say", async (context) => {
    const binding = (name: string, action: string, team: string) =>
      document("ValidatingAdmissionPolicyBinding", name, {
        policyName: "vap",
        validationActions: [action],
        matchResources: { namespaceSelector: { matchLabels: { team } } },
      });
    const begun = [
      document("ValidatingAdmissionPolicy", "vap", {
        matchConstraints: constraints(["pods"]),
        validations: [{ expression: "object.metadata.name != 'bad'", message: "a bad name" }],
      }),
      binding("warned", "Warn", "shop"),
      binding("audited", "Audit", "other"),
      document("ValidatingAdmissionPolicy", "unbound", {
        matchConstraints: constraints(["pods"]),
        validations: [{ expression: "false" }],
      }),
    ];
    const { results, server, run } = await found(context, begun, pod("bad", "a"));
    assert.deepEqual(results, { "validatingadmissionpolicy-vap": { warn: 1 } });
    server.put("namespaces", { metadata: { name: "shop", uid: "uid-shop", labels: { team: "other" } } });
    const again = await run();
    assert.deepEqual([again.counts.fail, again.counts.warn, again.isWell], [1, 0, true]);
    const [report] = server.objects("reports");
    assert.deepEqual(resultsOf(report)[0]?.properties, {
      binding: "audited",
      process: "background scan",
    });
  });

  test("that look at context entries are asked in each round", async (context) => {
    const policy = (expression: string) =>
      document("ValidatingPolicy", "looks", {
        matchConstraints: constraints(["pods"]),
        validations: [{ expression }],
      });
    const entry = document("GlobalContextEntry", "maps", {
      kubernetesResource: { version: "v1", resource: "configmaps", namespace: "shop" },
    });
    const looking = policy("globalContext.Get('maps', '').size() == 1");
    const { run, leftOut } = await found(context, [looking, entry], pod("a", "x"));
    assert.deepEqual(leftOut, []);
    assert.equal((await run()).summary.evaluated, 1);
    const other = await found(context, [policy("true"), entry], pod("a", "x"));
    assert.equal((await other.run()).summary.evaluated, 0, "an entry that nobody names is none of its business");
  });

  test("are the versions in force, not those in shadow", async (context) => {
    const never = (name: string) => ({
      matchConstraints: constraints(["pods"]),
      validations: [{ expression: `object.metadata.name != '${name}'` }],
    });
    let resource = 1;
    const version = (generation: number, name: string, notes?: object) => {
      const prefixed = Object.entries(notes ?? {}).map(([key, value]) => [`policy-server.admission/${key}`, value]);
      const annotations = Object.fromEntries(prefixed);
      const resourceVersion = String(resource++);
      const written = document("ValidatingPolicy", "named", never(name), { annotations, generation, resourceVersion });
      return { ...written, generation, resourceVersion };
    };
    const active = (generation: number, name: string) => JSON.stringify({ generation, spec: never(name) });
    const first = version(2, "b", { rollout: "shadow", "active-spec": active(1, "a") });
    const {
      source,
      runner,
      run,
      found: met,
    } = await found(context, [first], pod("a", "x"), pod("b", "x"), pod("c", "x"));
    assert.deepEqual([...met.keys()], ["a"]);
    let base = 1;
    const after = async (...versions: ReturnType<typeof version>[]) => {
      for (const put of versions)
        assert.ok(source.take({ version: base + 1, base: base++, put: [put], removed: [], sets: [] }));
      const loaded = await source.load();
      assert.deepEqual(loaded.leftOut, []);
      runner.use(loaded);
      await run();
      return [...met.keys()];
    };
    assert.deepEqual(await after(version(2, "b", { rollout: "shadow", "active-spec": active(2, "b") })), ["b"]);
    assert.deepEqual(
      await after(version(3, "c"), version(4, "a", { rollout: "shadow" })),
      ["c"],
      "what was in force between two rounds, and is not noted yet",
    );
  });

  test("stay what they were while their newest version is broken", async (context) => {
    const good = {
      matchConstraints: constraints(["pods"]),
      validations: [{ expression: "object.metadata.name != 'bad'" }],
    };
    const { source, runner, run, results } = await found(
      context,
      [document("ValidatingPolicy", "named", good)],
      pod("bad", "a"),
    );
    assert.deepEqual(results, { "validatingpolicy-named": { fail: 1 } });
    const broken = document("ValidatingPolicy", "named", { ...good, validations: [{ expression: "object.(" }] });
    source.take({
      version: 2,
      base: 1,
      put: [{ ...broken, generation: 2, resourceVersion: "8" }],
      removed: [],
      sets: [],
    });
    const loaded = await source.load();
    assert.deepEqual(loaded.leftOut, []);
    runner.use(loaded);
    const { counts, summary } = await run();
    assert.deepEqual([counts.fail, summary.evaluated], [1, 0]);
  });
});
