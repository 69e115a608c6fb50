/** Objects are those that Kyverno 1.19.1's command leaves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../../src/kubernetes/object.js";
import { changed, documentsOf, mutationsOf, notesOf, oldPolicy, reasonsOf } from "../rules.js";

const rule = (patchStrategicMerge: JsonObject, kinds?: readonly string[]) =>
  oldPolicy({ mutate: { patchStrategicMerge } }, kinds);
const ofContainers = (...containers: readonly JsonObject[]) => rule({ spec: { containers } });
const pod = (spec: JsonObject, metadata: JsonObject = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "shop", ...metadata },
  spec,
});
const [MAIN, SIDE] = [
  { name: "main", image: "app:1" },
  { name: "side", image: "side:2", imagePullPolicy: "Never" },
];
const two = (more: JsonObject = {}) => pod({ containers: [MAIN, SIDE], ...more });

/** Containers of the changed Pod. */
const containersOf = async (policy: JsonObject, object: JsonObject): Promise<unknown> =>
  ((await changed(policy, object)) as { readonly spec: JsonObject }).spec.containers;

describe("maps", () => {
  test("values are put in, with the maps above; null takes away; an empty map is nothing", async () => {
    const policy = rule({
      metadata: { labels: { a: "b", "x/y": "z" }, annotations: {} },
      spec: { hostNetwork: null, dnsPolicy: "None" },
    });
    const labels = { a: "b", "x/y": "z" };
    assert.deepEqual(await changed(policy, two({ hostNetwork: true })), {
      ...two({ dnsPolicy: "None" }),
      metadata: { ...two().metadata, labels },
    });
  });

  test("+(key) only adds", async () => {
    const policy = rule({
      metadata: { labels: { "+(a)": "new", "+(b)": "new" } },
      spec: { "+(securityContext)": { "+(runAsUser)": 1 } },
    });
    const kept = pod({ containers: [], securityContext: {} }, { labels: { a: "old" } });
    assert.deepEqual(
      await changed(policy, kept),
      pod({ containers: [], securityContext: {} }, { labels: { a: "old", b: "new" } }),
    );
    assert.deepEqual(
      await changed(policy, pod({ containers: [] })),
      pod({ containers: [], securityContext: { runAsUser: 1 } }, { labels: { a: "new", b: "new" } }),
    );
  });

  test("a condition that does not hold skips the rule, and is no part of the patch", async () => {
    const policy = rule({ metadata: { labels: { "(app)": "web*" } }, spec: { "<(dnsPolicy)": "?*", hostPID: false } });
    const asked = (app: string | undefined, spec: JsonObject) => pod({ containers: [], ...spec }, { labels: { app } });
    const fine = asked("web-1", { dnsPolicy: "None" });
    assert.deepEqual(await changed(policy, fine), { ...fine, spec: { ...fine.spec, hostPID: false } });
    for (const object of [asked("db", { dnsPolicy: "None" }), asked("web", {}), pod({ containers: [] })])
      assert.deepEqual(await changed(policy, object), object);
  });

  test("values and keys may have variables", async () => {
    const policy = rule({
      metadata: {
        annotations: { "{{ request.object.metadata.name }}": "{{ request.object.spec.containers[0].image }}!" },
      },
    });
    assert.deepEqual(await changed(policy, two()), pod(two().spec, { annotations: { p: "app:1!" } }));
  });
});

describe("lists that are merged by name", () => {
  test("an item is merged into that of its name, or put in front", async () => {
    assert.deepEqual(await containersOf(ofContainers({ name: "side", image: "new" }), two()), [
      { ...SIDE, image: "new" },
      MAIN,
    ]);
    assert.deepEqual(await containersOf(ofContainers({ name: "c", image: "c" }, { name: "d", image: "d" }), two()), [
      { name: "c", image: "c" },
      { name: "d", image: "d" },
      MAIN,
      SIDE,
    ]);
    const volumes = rule({ spec: { volumes: [{ name: "v", emptyDir: {} }] } });
    assert.deepEqual(await changed(volumes, two()), two({ volumes: [{ name: "v" }] }));
  });

  test("conditions choose items, which come first then", async () => {
    assert.deepEqual(await containersOf(ofContainers({ "(image)": "side:*", imagePullPolicy: "Always" }), two()), [
      { ...SIDE, imagePullPolicy: "Always" },
      MAIN,
    ]);
    const all = ofContainers({ "(name)": "*", env: [{ name: "X", value: "1" }] });
    const env = [{ name: "X", value: "1" }];
    assert.deepEqual(await containersOf(all, two()), [
      { ...MAIN, env },
      { ...SIDE, env },
    ]);
  });

  test("what the first item has decides what +(key) adds to all, as in Kyverno", async () => {
    const policy = ofContainers({ "(name)": "*", "+(imagePullPolicy)": "Always" });
    assert.deepEqual(
      await containersOf(policy, two()),
      [MAIN, SIDE].map((each) => ({ ...each, imagePullPolicy: "Always" })),
    );
    assert.deepEqual(await containersOf(policy, pod({ containers: [SIDE, MAIN] })), [SIDE, MAIN]);
  });

  test("a global condition asks for one item, and changes none", async () => {
    const policy = rule({
      metadata: { labels: { has: "logs" } },
      spec: { volumes: [{ hostPath: { "<(path)": "/var/*" } }] },
    });
    const of = (path: string) => two({ volumes: [{ name: "e" }, { name: "v", hostPath: { path } }] });
    assert.deepEqual(await changed(policy, of("/var/log")), pod(of("/var/log").spec, { labels: { has: "logs" } }));
    for (const object of [of("/etc"), two()]) assert.deepEqual(await changed(policy, object), object);
  });

  test("other lists are replaced, and all lists of custom resources", async () => {
    const tolerations = rule({ spec: { tolerations: [{ key: "new" }] } });
    assert.deepEqual(
      await changed(tolerations, two({ tolerations: [{ key: "old" }] })),
      two({ tolerations: [{ key: "new" }] }),
    );
    const widget = (name: string) => ({
      apiVersion: "demo.example.com/v1",
      kind: "Widget",
      metadata: { name: "w" },
      spec: { containers: [{ name }] },
    });
    const custom = rule({ spec: { containers: [{ name: "x" }] } }, ["demo.example.com/v1/Widget"]);
    assert.deepEqual(await changed(custom, widget("y")), widget("x"));
  });
});

test("controllers are changed in their templates", async () => {
  const policy = rule({
    metadata: { labels: { a: "b" } },
    spec: { containers: [{ "(name)": "*", imagePullPolicy: "Always" }] },
  });
  const template = (more: JsonObject, metadata?: JsonObject) => ({
    ...(metadata && { metadata }),
    spec: { containers: [{ ...MAIN, ...more }] },
  });
  const wanted = template({ imagePullPolicy: "Always" }, { labels: { a: "b" } });
  const deployment = (spec: JsonObject) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec,
  });
  const job = (spec: JsonObject) => ({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "c" },
    spec: { jobTemplate: { spec } },
  });
  for (const made of [deployment, job])
    assert.deepEqual(await changed(policy, made({ template: template({}) })), made({ template: wanted }));
});

describe("foreach", () => {
  const loop = (more: JsonObject) =>
    oldPolicy({ mutate: { foreach: [{ list: "request.object.spec.containers", ...more }] } });

  test("each element is merged; what does not depend on it is done once", async () => {
    const mount = { name: "certs", mountPath: "/certs" };
    const patchStrategicMerge = {
      spec: {
        volumes: [{ name: "certs", configMap: { name: "ca" } }],
        containers: [{ name: "{{ element.name }}", volumeMounts: [mount] }],
      },
    };
    const policy = loop({ patchStrategicMerge });
    const containers = [MAIN, SIDE].map((each) => ({ ...each, volumeMounts: [mount] }));
    assert.deepEqual(
      await changed(policy, two()),
      pod({ containers, volumes: [{ name: "certs", configMap: { name: "ca" } }] }),
    );
    assert.equal(mutationsOf(policy).length, 1);
  });

  test("a note says where Kyverno would change the order of items", () => {
    const patchStrategicMerge = { spec: { containers: [{ "(name)": "{{ element.name }}", image: "a" }] } };
    const notes = (more: JsonObject) => notesOf(loop({ patchStrategicMerge, ...more })).length;
    assert.equal(notes({}), 0);
    assert.equal(notes({ list: "request.object.spec.containers[?image=='b']" }), 1);
    assert.equal(notes({ preconditions: { all: [{ key: "{{ element.name }}", operator: "Equals", value: "x" }] } }), 1);
  });

  test("the last of all elements wins: in merges the first one of the list", async () => {
    const patchStrategicMerge = { metadata: { annotations: { last: "{{ element.name }}" } } };
    const last = (annotation: string) => pod(two().spec, { annotations: { last: annotation } });
    assert.deepEqual(await changed(loop({ patchStrategicMerge }), two()), last("main"));
    assert.deepEqual(await changed(loop({ patchStrategicMerge, order: "Ascending" }), two()), last("side"));
  });

  test("preconditions choose elements, and a variable that is null takes away", async () => {
    const preconditions = { all: [{ key: "{{ element.imagePullPolicy || '' }}", operator: "Equals", value: "Never" }] };
    const patchStrategicMerge = {
      spec: { containers: [{ name: "{{ element.name }}", imagePullPolicy: "{{ element.missing || null }}" }] },
    };
    const { imagePullPolicy: _, ...rest } = SIDE;
    assert.deepEqual(await containersOf(loop({ preconditions, patchStrategicMerge }), two()), [MAIN, rest]);
  });
});

test("a policy of a namespace becomes a NamespacedMutatingPolicy", () => {
  const policy = rule({ metadata: { labels: { a: "b" } } });
  const [document] = documentsOf({ ...policy, kind: "Policy", metadata: { name: "old", namespace: "shop" } });
  assert.equal(document?.kind, "NamespacedMutatingPolicy");
  assert.equal(document?.metadata.namespace, "shop");
});

test("what has no counterpart is refused at its place", () => {
  for (const [patch, reason] of [
    [{ spec: { "=(hostPID)": true } }, /mutate\.patchStrategicMerge\.spec\.=\(hostPID\): a merge knows the anchors/],
    [{ spec: { containers: [{ $patch: "delete", name: "a" }] } }, /\$patch is not converted/],
    [{ spec: { "+(hostPID)": true, hostPID: false } }, /spec\.hostPID: of hostPID and \+\(hostPID\) only one/],
    [{ spec: { "(securityContext)": { runAsUser: 1 }, hostPID: true } }, /a condition on a map/],
    [
      { spec: { tolerations: [{ "(key)": "a", operator: "Exists" }] } },
      /tolerations: anchors in a list are converted where/,
    ],
    [
      { spec: { containers: [{ "(name)": "*", env: [{ "(name)": "X", value: "1" }] }] } },
      /anchors in a list inside of a list/,
    ],
    [{ spec: { "+(affinity)": { "(a)": 1, b: 2 } } }, /a condition below \+\(key\)/],
    [{ spec: { containers: [{ image: "x" }] } }, /an item needs name/],
    [{ metadata: { finalizers: ["x"] } }, /finalizers are not converted/],
    [{ metadata: { annotations: {} } }, /this rule changes nothing/],
  ] as const)
    assert.match(reasonsOf(rule(patch)).join(), reason);
});
