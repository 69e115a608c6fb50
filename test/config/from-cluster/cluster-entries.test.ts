import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem } from "../../../src/config/documents/problem.js";
import type { ConfigEntry, ModuleEntry } from "../../../src/config/entry.js";
import {
  type ClusterDocument,
  type ClusterEntries,
  type ClusterEntryOptions,
  ClusterEntryReader,
} from "../../../src/config/from-cluster/index.js";
import {
  admissionPolicy,
  admissionPolicyGroup,
  binding,
  byKey,
  document,
  exception,
  kyvernoPolicy,
  policyServer,
  validatingPolicy,
} from "./support.js";

const OPTIONS: ClusterEntryOptions = { policyServer: "default", namespaced: {}, exceptionNamespaces: new Set(["*"]) };

const entriesOf = (documents: readonly ClusterDocument[], options: Partial<ClusterEntryOptions> = {}): ClusterEntries =>
  new ClusterEntryReader({ ...OPTIONS, ...options }).entries(byKey(...documents));

const ids = (entries: ClusterEntries): string[] => entries.entries.map(({ id }) => id);

/** The only entry. */
function only(documents: readonly ClusterDocument[], options?: Partial<ClusterEntryOptions>): ConfigEntry {
  const { entries } = entriesOf(documents, options);
  assert.equal(entries.length, 1);
  const [entry] = entries;
  assert.ok(entry);
  return entry.read().entry;
}

const problems = (documents: readonly ClusterDocument[], options?: Partial<ClusterEntryOptions>): string[] =>
  entriesOf(documents, options).entries.flatMap((entry) => entry.read().problems.map(formatProblem));

const fingerprint = (documents: readonly ClusterDocument[], options?: Partial<ClusterEntryOptions>): string =>
  entriesOf(documents, options).entries.map((entry) => entry.fingerprint)[0] ?? assert.fail();

const MEMBER = { m: { module: "registry://reg.example/m:v1" } };
const CERTIFICATES = (name: string) =>
  document({
    apiVersion: "policy.cert-manager.io/v1alpha1",
    kind: "CertificateRequestPolicy",
    metadata: { name },
    spec: {},
  });

const clusterPolicy = (name: string, namespace?: string) =>
  document({
    apiVersion: "kyverno.io/v1",
    kind: namespace === undefined ? "ClusterPolicy" : "Policy",
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec: { rules: [] },
  });

describe("Kyverno's policies of the old language", () => {
  test("may change objects: in a cluster their rules alone decide that", () => {
    for (const entry of [only([clusterPolicy("a")]), entriesOf([clusterPolicy("a", "team")]).entries[0]?.read().entry])
      assert.ok(entry?.kind === "resource" && entry.allowedToMutate);
  });

  test("have exceptions of both generations: those that name them, and those that name what their rules become", () => {
    const old = (policyName: string, name: string) =>
      document({
        apiVersion: "kyverno.io/v2",
        kind: "PolicyException",
        metadata: { name, namespace: "ns" },
        spec: { exceptions: [{ policyName, ruleNames: ["*"] }] },
      });
    const documents = [
      clusterPolicy("a"),
      old("a", "own"),
      old("b", "other"),
      exception("e-a-rule", "a-rule"),
      exception("e-ab", "ab"),
    ];
    const entry = only(documents);
    assert.ok(entry.kind === "resource");
    assert.deepEqual(
      entry.documents.map(({ value }) => (value as { metadata: { name: string } }).metadata.name),
      ["a", "own", "e-a-rule"],
    );
    assert.equal(only(documents, { exceptionNamespaces: new Set() }).kind, "resource");
    const [policy] = entriesOf([clusterPolicy("x", "team"), old("team/x", "own")]).entries;
    assert.ok(policy?.namespace === "team");
    const read = policy.read().entry;
    assert.ok(read.kind === "resource" && read.documents.length === 2);
  });

  test("that are there in their new form, too, are served with a warning, whenever that comes or goes", () => {
    const old = clusterPolicy("a");
    const warning = (name: string) =>
      `ClusterPolicy a:1:1: warning: metadata.name: the same policy is there as ValidatingPolicy ${name}: both are asked, so delete this one when the other is right`;
    const told = (documents: readonly ClusterDocument[]) =>
      problems(documents).map((line) => line.replace(/:\d+:\d+:/, ":1:1:"));
    assert.deepEqual(told([old]), []);
    assert.deepEqual(told([old, kyvernoPolicy("a", "true")]), [warning("a")]);
    const converted = document({
      apiVersion: "policies.kyverno.io/v1",
      kind: "ValidatingPolicy",
      metadata: { name: "a-rule", annotations: { "policy-server/converted-from": "ClusterPolicy/a" } },
      spec: {},
    });
    assert.deepEqual(told([old, converted]), [warning("a-rule")]);
    assert.notEqual(fingerprint([old]), fingerprint([old, converted]));
    assert.deepEqual(told([clusterPolicy("a", "team"), converted]), []);
  });
});

describe("ids", () => {
  const IDS: readonly (readonly [string, readonly ClusterDocument[]])[] = [
    ["clusterwide-a", [admissionPolicy("a")]],
    ["namespaced-team-a", [admissionPolicy("a", {}, "team")]],
    ["clusterwide-group-a", [admissionPolicyGroup("a", MEMBER)]],
    ["namespaced-group-team-a", [admissionPolicyGroup("a", MEMBER, "team")]],
    ["validatingpolicy-a", [kyvernoPolicy("a", "true")]],
    ["clusterpolicy-a", [clusterPolicy("a")]],
    ["policy-team-a", [clusterPolicy("a", "team")]],
    ["policy.team-b.a", [clusterPolicy("a", "team-b")]],
    ["namespacedvalidatingpolicy-team-a", [kyvernoPolicy("a", "true", "team")]],
    ["validatingadmissionpolicy-a", [validatingPolicy("a"), binding("b", "a")]],
    ["certificaterequestpolicies", [CERTIFICATES("a"), CERTIFICATES("b")]],
  ];
  for (const [id, documents] of IDS) test(id, () => assert.deepEqual(ids(entriesOf(documents)), [id]));

  test("are not taken away from other namespaces: all of them are served", () => {
    const entries = entriesOf([
      admissionPolicy("a-guard", {}, "team", { creationTimestamp: "2026-01-01T00:00:00Z" }),
      admissionPolicy("guard", {}, "team-a", { creationTimestamp: "2026-01-02T00:00:00Z" }),
      admissionPolicy("team-x", {}, "group"),
      admissionPolicyGroup("x", MEMBER, "team"),
      kyvernoPolicy("a-guard", "true", "team"),
      kyvernoPolicy("guard", "true", "team-a"),
    ]);
    assert.deepEqual(
      entries.entries.map(({ id, namespace }) => [id, namespace]),
      [
        ["namespaced-group-team-x", "team"],
        ["namespaced-team-a-guard", "team"],
        ["namespaced.group.team-x", "group"],
        ["namespaced.team-a.guard", "team-a"],
        ["namespacedvalidatingpolicy-team-a-guard", "team"],
        ["namespacedvalidatingpolicy.team-a.guard", "team-a"],
      ],
    );
  });
});

test("a policy whose namespace is left out says why, and is another than before", () => {
  const policy = kyvernoPolicy("a", "true", "team");
  const leftOut = { ...policy, leftOut: "team has too much" };
  assert.deepEqual(problems([leftOut]), ["NamespacedValidatingPolicy team/a:1:1: team has too much"]);
  assert.equal(only([leftOut]).kind, "invalid");
  assert.notEqual(fingerprint([leftOut]), fingerprint([policy]));
});

describe("policies of Kubewarden", () => {
  test("are those of this server's name", () => {
    const documents = [
      admissionPolicy("mine", { policyServer: "own" }),
      admissionPolicy("other"),
      policyServer("own", {}),
    ];
    assert.deepEqual(ids(entriesOf(documents, { policyServer: "own" })), ["clusterwide-mine"]);
    assert.deepEqual(ids(entriesOf(documents)), ["clusterwide-other"]);
  });

  test("become what the controller writes of them", () => {
    const spec = { mode: "monitor", mutating: true, message: "no", settings: { n: 1 }, timeoutEvalSeconds: 3 };
    const { origin: _, ...entry } = only([admissionPolicy("a", spec)]) as ModuleEntry;
    assert.deepEqual(entry, {
      kind: "module",
      id: "clusterwide-a",
      module: { kind: "registry", text: "registry://reg.example/p:v1", location: "registry://reg.example/p:v1" },
      settings: { n: 1 },
      policyMode: "monitor",
      allowedToMutate: true,
      message: "no",
      timeoutEvalSeconds: 3,
      contextAwareResources: [],
      hostCapabilities: ["*"],
      native: true,
      warmStart: true,
    });
  });

  test("tell mistakes at lines of what kubectl prints", () => {
    const broken = admissionPolicy("a", { mode: "strict" });
    const line = broken.text.split("\n").findIndex((each) => each.includes('"mode"')) + 1;
    assert.match(problems([broken]).join(), new RegExp(`^ClusterAdmissionPolicy a:${line}:\\d+: spec.mode: `));
    assert.equal(only([broken]).kind, "invalid");
  });

  test("have members that are modules: neither other policies nor files of the server", () => {
    for (const member of [{ policy: "clusterwide-x" }, { resource: "/etc/passwd" }]) {
      assert.equal(only([admissionPolicyGroup("a", { m: member })]).kind, "invalid", JSON.stringify(member));
    }
    const { kind } = only([admissionPolicyGroup("a", MEMBER)]);
    assert.equal(kind, "group");
  });
});

describe("namespaced policies", () => {
  const CAPABILITIES: readonly (readonly [string, object | undefined, readonly string[]])[] = [
    ["without a PolicyServer", undefined, ["*"]],
    ["with one that says nothing", {}, ["*"]],
    ["with a list", { namespacedPoliciesCapabilities: ["oci/*"] }, ["oci/*"]],
    ["with an empty list", { namespacedPoliciesCapabilities: [] }, []],
  ];
  for (const [name, spec, expected] of CAPABILITIES) {
    test(`may ask of the host what the PolicyServer grants: ${name}`, () => {
      const server = spec === undefined ? [] : [policyServer("default", spec), policyServer("other", {})];
      const policy = only([admissionPolicy("a", {}, "team"), ...server]) as ModuleEntry;
      assert.deepEqual([policy.hostCapabilities, policy.namespace], [expected, "team"]);
      const asked = { m: { ...MEMBER.m, hostCapabilities: ["kubernetes/*"] } };
      const group = only([admissionPolicyGroup("a", asked, "team"), ...server]);
      assert.ok(group.kind === "group");
      const [member] = group.members;
      assert.ok(member?.policy.kind === "module");
      assert.deepEqual([member.policy.hostCapabilities, member.policy.namespace], [expected, "team"]);
      const clusterWide = only([admissionPolicy("a"), ...server]) as ModuleEntry;
      assert.deepEqual([clusterWide.hostCapabilities, clusterWide.namespace], [["*"], undefined]);
    });
  }

  test("are not loaded by a PolicyServer with a mistake in what it grants them; others are", () => {
    const server = policyServer("default", { namespacedPoliciesCapabilities: ["oci*"] });
    assert.equal(only([admissionPolicy("a", {}, "team"), server]).kind, "invalid");
    assert.equal(only([admissionPolicy("a"), server]).kind, "module");
  });

  const HTTPS = { places: ["https://modules.example/acme"] };
  const LIMITS: readonly (readonly [string, ClusterEntryOptions["namespaced"], object, boolean])[] = [
    ["a place", { places: ["reg.example"] }, {}, true],
    ["a place with a scheme", { places: ["registry://reg.example/"] }, {}, true],
    ["no place", { places: [] }, {}, false],
    ["another place", { places: ["reg.example/q"] }, {}, false],
    ["a place that only begins like it", { places: ["reg.exam"] }, {}, false],
    ["a place of a server", HTTPS, { module: "https://modules.example/acme/x.wasm?v=1" }, true],
    [
      "a place that is a server",
      { places: ["https://modules.example"] },
      { module: "https://modules.example/x.wasm" },
      true,
    ],
    ["the same place in other letters", HTTPS, { module: "https://MODULES.example:443/acme/./x.wasm" }, true],
    ["a way out of a place", HTTPS, { module: "https://modules.example/acme/../evil/x.wasm" }, false],
    ["a way out that is hidden", HTTPS, { module: "https://modules.example/acme/%2e%2E/evil/x.wasm" }, false],
    ["a way out that only a server sees", HTTPS, { module: "https://modules.example/acme/..%2fevil/x.wasm" }, false],
    [
      "a place as a name",
      { places: ["https://modules.example"] },
      { module: "https://modules.example:443@evil/x.wasm" },
      false,
    ],
    ["another port of a place", { places: ["reg.example"] }, { module: "registry://reg.example:5000/p:v1" }, false],
    ["another port of a server", HTTPS, { module: "https://modules.example:8443/acme/x.wasm" }, false],
    ["a place without encryption", HTTPS, { module: "http://modules.example/acme/x.wasm" }, false],
    ["a file of the server", {}, { module: "file:///modules/x.wasm" }, false],
    ["a kind that is not served", { kinds: new Set(["NamespacedValidatingPolicy"] as const) }, {}, false],
    ["a kind that is served", { kinds: new Set(["AdmissionPolicy"] as const) }, {}, true],
  ];
  for (const [name, namespaced, spec, good] of LIMITS) {
    test(`are held to limits: ${name}`, () => {
      const found = only([admissionPolicy("a", spec, "team")], { namespaced });
      assert.equal(found.kind, good ? "module" : "invalid");
      assert.equal(only([admissionPolicy("a")], { namespaced }).kind, "module");
    });
  }

  test("have no more memory than the limit, also members that ask for more", () => {
    const namespaced = { memoryMiB: 16 };
    const policy = only([admissionPolicy("a", {}, "team")], { namespaced }) as ModuleEntry;
    assert.equal(policy.memoryLimitMiB, 16);
    const members = { m: { ...MEMBER.m, memoryLimitMiB: 4000 }, n: { ...MEMBER.m, memoryLimitMiB: 8 } };
    const group = only([admissionPolicyGroup("a", members, "team")], { namespaced });
    assert.ok(group.kind === "group");
    assert.deepEqual(
      group.members.map(({ policy: each }) => (each.kind === "module" ? each.memoryLimitMiB : undefined)),
      [16, 8],
    );
  });

  test("say how large their modules may be, and where these may come from, also those of members", () => {
    const limitsIn = (namespaced: ClusterEntryOptions["namespaced"]) => {
      const group = only([admissionPolicyGroup("a", MEMBER, "team")], { namespaced });
      assert.ok(group.kind === "group");
      return group.members.map(({ policy: each }) => each.kind === "module" && each.moduleLimits);
    };
    assert.deepEqual(limitsIn({}), [{ maxBytes: 32 * 1024 * 1024 }]);
    const places = ["reg.example"];
    assert.deepEqual(limitsIn({ moduleMiB: 2, places }), [{ maxBytes: 2 * 1024 * 1024, places }]);
    assert.equal((only([admissionPolicy("a")], { namespaced: { places } }) as ModuleEntry).moduleLimits, undefined);
  });

  test("may not send HTTP requests or be CEL members", () => {
    for (const member of [{ ...MEMBER.m, allowedHosts: ["*"] }, { cel: { validations: [{ expression: "true" }] } }]) {
      assert.equal(only([admissionPolicyGroup("a", { m: member }, "team")]).kind, "invalid");
      assert.equal(only([admissionPolicyGroup("a", { m: member })]).kind, "group");
    }
  });
});

describe("modules of the cluster's policies", () => {
  const keys = (content: string | undefined) =>
    document({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "signers", namespace: "kubewarden" },
      data: content === undefined ? {} : { "verification-config": content },
    });
  const SIGNED = "apiVersion: v1\nallOf: [ { kind: githubAction, owner: acme } ]\n";

  test("are fetched as the PolicyServer says", () => {
    const spec = { insecureSources: ["reg.example:5000"], verificationConfig: "signers" };
    const { terms } = entriesOf([policyServer("default", spec), keys(SIGNED)]);
    assert.deepEqual([...terms.sources.insecure], ["reg.example:5000"]);
    assert.deepEqual(terms.verification, { allOf: [{ kind: "githubAction", owner: "acme" }] });
    assert.equal(entriesOf([policyServer("other", spec)]).terms.sources.insecure.size, 0);
  });

  const WRONG: readonly (readonly [string, object, readonly ClusterDocument[]])[] = [
    ["a ConfigMap that is not there", { verificationConfig: "signers" }, []],
    ["one without its key", { verificationConfig: "signers" }, [keys(undefined)]],
    ["one that can't be read", { verificationConfig: "signers" }, [keys("allOf: []")]],
    ["a certificate that is none", { sourceAuthorities: { "reg.example": ["x"] } }, []],
    ["hosts that are none", { insecureSources: [1] }, []],
  ];
  for (const [name, spec, others] of WRONG) {
    test(`are not loaded where it names ${name}`, () => {
      const entry = only([admissionPolicy("a"), policyServer("default", spec), ...others]);
      assert.equal(entry.kind, "invalid");
    });
  }

  test("are not fetched as long as the PolicyServer can't be read", () => {
    const unread = { ...policyServer("default", {}), text: "" };
    assert.deepEqual(
      problems([admissionPolicy("a"), unread]).map((text) => /nothing is loaded by .*can't be read/.test(text)),
      [true],
    );
    assert.notEqual(fingerprint([admissionPolicy("a"), unread]), fingerprint([admissionPolicy("a")]));
  });

  test("are fetched anew when that changes", () => {
    const policy = admissionPolicy("a");
    const before = fingerprint([policy]);
    assert.notEqual(fingerprint([policy, policyServer("default", { insecureSources: ["h"] })]), before);
    assert.equal(fingerprint([policy, policyServer("default", { namespacedPoliciesCapabilities: [] })]), before);
    const kyverno = kyvernoPolicy("k", "true");
    assert.equal(fingerprint([kyverno, policyServer("default", { insecureSources: ["h"] })]), fingerprint([kyverno]));
  });
});

describe("documents that belong to a policy", () => {
  const CONTEXT = document({
    apiVersion: "kyverno.io/v2",
    kind: "GlobalContextEntry",
    metadata: { name: "g" },
    spec: {},
  });
  const documentsOf = (documents: readonly ClusterDocument[], id: string): readonly string[] => {
    const entry = entriesOf(documents)
      .entries.find((each) => each.id === id)
      ?.read().entry;
    assert.ok(entry?.kind === "resource");
    return entry.documents.map(({ file }) => file);
  };

  test("are the exceptions that name it, and the context entries that it may ask for", () => {
    const documents = [
      kyvernoPolicy("a", "globalContext.Get('g', '') != null"),
      kyvernoPolicy("b", "true"),
      exception("e", "a"),
      CONTEXT,
    ];
    assert.deepEqual(documentsOf(documents, "validatingpolicy-a"), [
      "ValidatingPolicy a",
      "PolicyException team/e",
      "GlobalContextEntry g",
    ]);
    assert.deepEqual(documentsOf(documents, "validatingpolicy-b"), ["ValidatingPolicy b"]);
  });

  test("are exceptions of the namespaces where they count", () => {
    const documents = [kyvernoPolicy("a", "true"), exception("e", "a")];
    const without = fingerprint([kyvernoPolicy("a", "true")]);
    assert.notEqual(fingerprint(documents, { exceptionNamespaces: new Set(["team"]) }), without);
    for (const names of [["other"], []])
      assert.equal(fingerprint(documents, { exceptionNamespaces: new Set(names) }), without);
  });

  test("are a ValidatingAdmissionPolicy's bindings; without any there is nothing to be served", () => {
    const documents = [validatingPolicy("a"), validatingPolicy("b"), binding("x", "a"), binding("y", "a")];
    assert.deepEqual(ids(entriesOf(documents)), ["validatingadmissionpolicy-a"]);
    assert.equal(documentsOf(documents, "validatingadmissionpolicy-a").length, 3);
  });

  test("make it another one when they change; what changes by itself does not", () => {
    const policy = kyvernoPolicy("a", "true");
    const before = fingerprint([policy]);
    assert.notEqual(fingerprint([policy, exception("e", "a")]), before);
    assert.equal(fingerprint([policy, exception("e", "b"), CONTEXT]), before);
    const touched = { resourceVersion: "7", generation: 3, uid: "x", managedFields: [{}] };
    assert.equal(fingerprint([kyvernoPolicy("a", "true", undefined, touched)]), before);
    assert.notEqual(fingerprint([kyvernoPolicy("a", "true", undefined, { labels: { a: "b" } })]), before);
    assert.notEqual(fingerprint([kyvernoPolicy("a", "1 == 1")]), before);
  });

  test("have numbers that are told apart whatever their size", () => {
    const withNumber = (number: string) => {
      const policy = admissionPolicy("a", { settings: { n: "N" } });
      return fingerprint([{ ...policy, text: policy.text.replace('"N"', number) }]);
    };
    assert.notEqual(withNumber("9007199254740993"), withNumber("9007199254740992"));
  });
});
