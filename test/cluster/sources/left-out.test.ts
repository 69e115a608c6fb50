import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { Contact } from "../../../src/cluster/contact.js";
import { HeldSizes, type Size } from "../../../src/cluster/sources/held-sizes.js";
import { Items } from "../../../src/cluster/sources/items.js";
import {
  LEFT_OUT_AGAIN_MS,
  MAX_DOCUMENTS,
  MAX_KIND_BYTES,
  MAX_NAMESPACE_BYTES,
  MAX_NAMESPACE_DOCUMENTS,
} from "../../../src/cluster/sources/limits.js";
import { Sources } from "../../../src/cluster/sources/sources.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { idOf } from "../../../src/cluster/webhooks/part.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { ResourceError } from "../../../src/kubernetes/client/errors.js";
import type { AdmissionQuestion } from "../../../src/policy/index.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { define, KUBEWARDEN, SETTINGS } from "../support.js";
import { asks } from "../webhooks/asks.js";

const KIND = { group: "policies.kubewarden.io", version: "v1", kind: "AdmissionPolicy" };
const MIB = 1024 * 1024;
const RULE = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };

/** A policy; a later one is younger. */
let second = 0;
const policy = (namespace: string, name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: {
    ...{ namespace, name, uid: `${namespace}/${name}`, generation: 1 },
    creationTimestamp: new Date(second++ * 1000).toISOString(),
    ...metadata,
  },
  spec: { module: "registry://r/p:v1", mutating: false, rules: [RULE], ...spec },
});
const large = (namespace: string, name: string, bytes: number) =>
  policy(namespace, name, { settings: { text: "x".repeat(bytes) } });

const items = (more: Partial<ConstructorParameters<typeof Items>[0]> = {}): Items =>
  new Items({ kind: KIND, wanted: () => true, arePolicies: true, ...more });
const documents = ({ all }: Items): readonly ClusterDocument[] => Array.from(all.values(), ({ document }) => document);
const namespaceOf = ({ key }: ClusterDocument): string => key.split("/")[2] ?? "";
const kept = (list: Items): readonly string[] =>
  documents(list).flatMap((each) =>
    each.leftOut === undefined ? [`${namespaceOf(each)}/${each.key.split("/")[3]}`] : [],
  );

describe("namespaces that are left out", () => {
  /** Those with most go first, until the rest is held. */
  function expected(sizes: ReadonlyMap<string, Size>): readonly string[] {
    const out: string[] = [];
    const rest = [...sizes].filter(([namespace, { count, bytes }]) => {
      const beyond = namespace !== "" && (count > MAX_NAMESPACE_DOCUMENTS || bytes > MAX_NAMESPACE_BYTES);
      if (beyond) out.push(namespace);
      return !beyond;
    });
    for (const [by, most] of [
      ["bytes", MAX_KIND_BYTES],
      ["count", MAX_DOCUMENTS],
    ] as const) {
      rest.sort(([a, { [by]: x }], [b, { [by]: y }]) => y - x || (a < b ? -1 : 1));
      while (rest.reduce((sum, [, size]) => sum + size[by], 0) > most) out.push(rest.shift()?.[0] ?? "");
    }
    return out.sort();
  }

  test("are those with too much, and then the largest, in whatever order they are counted", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    let both = 0;
    for (let round = 0; round < 200; round++) {
      const sizes = new Map<string, Size>();
      const number = 1 + random(120);
      for (let i = 0; i < number; i++) {
        const size = { count: 1 + random(2) * random(600), bytes: random(random(2) === 0 ? 2 * MIB : 8.3 * MIB) };
        sizes.set(`n${i}`, size);
      }
      const room = new HeldSizes("K");
      for (const [namespace, size] of [...sizes].sort(() => random(3) - 1)) room.add(namespace, size);
      const due = [...room.due.keys()].sort();
      assert.deepEqual(due, expected(sizes), `round ${round}`);
      // With only a part known no less is left out, and with all known from the beginning just these.
      assert.ok(room.out.size >= due.length);
      const again = new HeldSizes("K", new Map([...room.due].filter(([, limit]) => limit === "kind")));
      for (const [namespace, size] of sizes) again.add(namespace, size);
      assert.deepEqual([...again.out.keys()].sort(), due);
      if (new Set(room.due.values()).size === 2) both += 1;
    }
    assert.ok(both > 5, `${both} rounds with both limits`);
  });

  test("are told when all is read, where only a part of the largest was there when there was too much", () => {
    const room = new HeldSizes("K");
    for (let i = 0; i < 9; i++) room.add(`a${i}`, { count: 1, bytes: 6.5 * MIB });
    room.add("b", { count: 1, bytes: 5 * MIB });
    assert.deepEqual(room.add("c", { count: 1, bytes: 0.6 * MIB }), ["a0"]);
    assert.deepEqual(room.add("c", { count: 1, bytes: 7.3 * MIB }), ["c"]);
    assert.deepEqual([...room.due], [["c", "kind"]]);
  });

  test("are none of administrators: what stands in no namespace is too much by itself only", () => {
    const room = new HeldSizes("K");
    room.add("", { count: 10, bytes: MAX_KIND_BYTES });
    assert.deepEqual(room.add("a", { count: 1, bytes: 1 }), ["a"]);
    assert.throws(() => room.add("", { count: 1, bytes: 1 }), ResourceError);
  });
});

describe("a kind of which one namespace has too much", () => {
  test("is held for all others: 47 objects of 1.45 MB", () => {
    const list = items();
    for (let i = 0; i < 30; i++) list.put(policy(`early-${i}`, "guard"));
    for (let i = 0; i < 47; i++) list.put(large("heavy", `p${i}`, 1_450_000));
    for (let i = 0; i < 30; i++) list.put(policy(`late-${i}`, "guard"));
    list.listed();
    assert.deepEqual([...list.out], [["heavy", "namespace"]]);
    assert.equal(kept(list).length, 60);
    const stubs = documents(list).filter((each) => namespaceOf(each) === "heavy");
    assert.equal(stubs.length, 47);
    for (const { text, leftOut } of stubs) {
      assert.ok(text.length < 2_000);
      assert.match(leftOut ?? "", /^the namespace heavy has more .* AdmissionPolicy than the 500, or the 8 MiB/);
    }
    assert.equal(list.isStale, false);
  });

  test("is not printed where that would take more than it does: numbers in many brackets", () => {
    const list = items();
    // Printed it would have 720 MB, more than a text may have.
    const numbers = Array.from({ length: 400_000 }, () => 1);
    let settings: unknown = numbers;
    for (let depth = 0; depth < 450; depth++) settings = [settings];
    list.put(policy("other", "guard"));
    list.put(policy("deep", "p", { settings: { settings } }));
    assert.deepEqual([...list.out.keys()], ["deep"]);
    assert.ok(documents(list).every(({ text }) => text.length < 2_000));
  });

  test("is read anew where the list before has left out others than those with most", () => {
    const list = items({ out: new Map([["a", "kind"]]) });
    for (const namespace of ["a", "b"]) list.put(policy(namespace, "p"));
    list.listed();
    assert.deepEqual(kept(list), ["b/p"]);
    assert.ok(list.isStale);
    assert.equal(list.next.size, 0);
  });

  test("is looked at again when another namespace makes room", () => {
    const list = items();
    // Of two that have the same the first one goes.
    for (let i = 0; i < 9; i++) list.put(large(`n${i}`, "p", 7.5 * MIB));
    list.listed();
    assert.deepEqual([...list.out], [["n0", "kind"]]);
    assert.equal(list.isStale, false);
    list.delete(policy("n8", "p"));
    assert.equal(list.isStale, true);
  });

  test("keeps what was there first: no policy goes because others come", () => {
    const list = items();
    list.put(policy("team", "zz-guard"));
    for (let i = 0; i < 3 * MAX_NAMESPACE_DOCUMENTS; i++) list.put(policy("team", `a${i}`));
    list.listed();
    const held = documents(list);
    assert.equal(held.length, MAX_NAMESPACE_DOCUMENTS);
    assert.ok(held.some(({ key }) => key.endsWith("/zz-guard")));
    assert.ok(held.every(({ leftOut }) => leftOut !== undefined));
    list.put(policy("team", "0"));
    assert.ok(list.all.has("policies.kubewarden.io/AdmissionPolicy/team/zz-guard"));
    assert.equal(list.all.size, MAX_NAMESPACE_DOCUMENTS);
  });

  test("is looked at again when something in that namespace has changed, but for a status", () => {
    const list = items();
    list.put(policy("other", "guard"));
    const some = Array.from({ length: MAX_NAMESPACE_DOCUMENTS }, (_, i) => policy("team", `p${i}`));
    for (const each of some) list.put(each);
    list.listed();
    assert.deepEqual([list.out.size, list.isStale], [0, false]);
    assert.deepEqual(list.touched(), []);
    list.put(policy("team", "one-more"));
    assert.equal(list.touched().length, MAX_NAMESPACE_DOCUMENTS + 1);
    assert.deepEqual([...list.out.keys()], ["team"]);
    assert.deepEqual(kept(list), ["other/guard"]);
    list.put({ ...some[0], status: { policyStatus: "pending" } });
    assert.equal(list.isStale, false);
    list.delete(some[0]);
    assert.equal(list.isStale, true);
  });

  test("of what only belongs to policies holds nothing of that namespace", () => {
    const list = items({ arePolicies: false });
    for (let i = 0; i <= MAX_NAMESPACE_DOCUMENTS; i++) list.put(policy("team", `p${i}`));
    list.put(policy("other", "p"));
    assert.deepEqual(kept(list), ["other/p"]);
    assert.equal(list.all.size, 1);
  });

  test("counts only what is wanted", () => {
    const list = items({ wanted: (object) => JSON.stringify(object).includes("guard") });
    for (let i = 0; i < 100; i++) list.put(large("team", `p${i}`, MIB));
    list.put(policy("team", "guard"));
    assert.deepEqual(kept(list), ["team/guard"]);
    assert.equal(list.unwanted, 100);
  });
});

describe("a policy whose namespace is left out", () => {
  const wide = (resources: readonly string[]) => resources.map((resource) => ({ ...RULE, resources: [resource] }));
  const SPECS: readonly object[] = [
    {},
    { objectSelector: { matchLabels: { app: "web" } }, matchConditions: [{ name: "c", expression: "true" }] },
    { matchConditions: [{ name: "c", expression: `'${"x".repeat(10_000)}' == ''` }], failurePolicy: "Ignore" },
    { objectSelector: { matchExpressions: [{ key: "app", operator: "NotIn", values: Array(900).fill("other") }] } },
    { rules: wide([...Array.from({ length: 40 }, (_, i) => `r${i}`), "pods"]) },
    { rules: wide([...Array.from({ length: 900 }, (_, i) => `r${i}`), "pods"]), mutating: true },
  ];
  const request = (resource: string, labels: object) =>
    ({
      request: {
        uid: "u",
        kind: { group: "", version: "v1", kind: "X" },
        resource: { group: "", version: "v1", resource },
        requestKind: { group: "", version: "v1", kind: "X" },
        requestResource: { group: "", version: "v1", resource },
        ...{ name: "x", namespace: "team", operation: "CREATE", userInfo: {}, options: null, dryRun: false },
        object: { metadata: { name: "x", namespace: "team", labels } },
        oldObject: null,
      },
    }) as unknown as AdmissionQuestion;

  test("is asked about no less than before, by the same webhook, and denies", () => {
    for (const spec of SPECS) {
      const [whole, list] = [items(), items({ out: new Map([["team", "kind"]]) })];
      const object = policy("team", "guard", spec, { annotations: { long: "x".repeat(100_000) } });
      whole.put(object);
      list.put(object);
      const [before, after] = [whole, list].map(
        (each) => new WebhookDeriver({ ownNamespace: "own", idOf }).derive(documents(each)).webhooks[0],
      );
      assert.ok(before && after);
      const { type, name, path, failurePolicy } = before;
      assert.deepEqual({ type, name, path, failurePolicy }, pick(after, "type", "name", "path", "failurePolicy"));
      for (const resource of ["pods", "r1", "services"])
        for (const labels of [{}, { app: "web" }, { app: "other" }]) {
          const asked = asks(before, request(resource, labels), { "kubernetes.io/metadata.name": "team" });
          const now = asks(after, request(resource, labels), { "kubernetes.io/metadata.name": "team" });
          if (asked === "asks") assert.equal(now, "asks", `${JSON.stringify(spec).slice(0, 80)} ${resource}`);
        }
      assert.ok(documents(list)[0]?.text.length ?? 0 < 10_000);
    }
  });
});

const pick = (value: object, ...keys: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));

describe("a cluster", () => {
  function follow(context: TestContext, server: FakeApiServer, settings = SETTINGS) {
    // A watch that is silent is no reason to list again.
    const timing = { silence: 600_000, firstBackoff: 20, lastBackoff: 100, staleness: 600_000 };
    const { cluster } = connect(context, server, { timing });
    const clock = new TestClock();
    const { logger, lines } = keptLog();
    const changed: string[] = [];
    const sources = new Sources({
      ...{ cluster, clock, log: logger, settings, contact: new Contact(clock, logger) },
      changed: (keys) => void changed.push(...keys),
      moved: () => {},
    });
    context.after(() => sources.stop());
    return { sources, clock, lines, changed };
  }
  const leftOutOf = (sources: Sources, namespace: string): readonly boolean[] =>
    [...sources.documents()].flatMap((each) => (namespaceOf(each) === namespace ? [each.leftOut !== undefined] : []));

  test("is known although a namespace has too much of a kind, which the log says; what is deleted there brings it back", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    const names = Array.from({ length: MAX_NAMESPACE_DOCUMENTS + 1 }, (_, i) => `p${i}`);
    for (const name of names) server.put("admissionpolicies", policy("heavy", name));
    server.put("admissionpolicies", policy("team", "guard"));
    const { sources, clock, lines, changed } = follow(context, server);
    await until("all", () => sources.complete && server.watching > 5);
    assert.deepEqual(sources.unread, []);
    assert.deepEqual(leftOutOf(sources, "team"), [false]);
    assert.ok(leftOutOf(sources, "heavy").every((each) => each));
    assert.deepEqual(
      lines.filter(({ level }) => level === "error"),
      [
        {
          level: "error",
          message: "namespaces have more than is held of them and are left out: their policies deny",
          fields: { resource: "admissionpolicies.policies.kubewarden.io", namespaces: ["heavy"], left_out: 1 },
        },
      ],
    );
    await until(
      "the watch",
      () => server.asked("GET /apis/policies.kubewarden.io/v1/admissionpolicies?watch").length > 0,
    );
    changed.length = 0;
    for (const name of names.slice(0, 2)) server.remove("admissionpolicies", name, "heavy");
    await until("their end", () => changed.length > 1);
    clock.move(LEFT_OUT_AGAIN_MS);
    await until("the list", () => leftOutOf(sources, "heavy").every((each) => !each));
    assert.equal(leftOutOf(sources, "heavy").length, MAX_NAMESPACE_DOCUMENTS - 1);
    assert.ok(lines.some(({ message }) => message === "no namespace is left out any more"));
    server.put("admissionpolicies", policy("team", "new"));
    await until("what comes later", () => leftOutOf(sources, "team").length === 2);
  });

  test("has PolicyExceptions only where they count, and the log says at the start how many do not", async (context) => {
    const names = ["validatingpolicies", "policyexceptions"].map((plural) => `${plural}.policies.kyverno.io`);
    const start = async (...namespaces: readonly string[]) => {
      const server = await FakeApiServer.start(context);
      define(server, ...names);
      server.resources.set("/apis/policies.kyverno.io/v1", [
        { name: "validatingpolicies", kind: "ValidatingPolicy", namespaced: false },
        { name: "policyexceptions", kind: "PolicyException", namespaced: true },
      ]);
      for (const namespace of ["a", "b", "b"])
        server.put("policyexceptions", { metadata: { name: `e${second++}`, namespace } });
      const followed = follow(context, server, { ...SETTINGS, exceptionNamespaces: new Set(namespaces) });
      await until("all", () => followed.sources.complete);
      const said = followed.lines.filter(({ message }) => message.includes("PolicyExceptions count for nothing"));
      const found = [...followed.sources.documents()].map(namespaceOf);
      return { found: found.join(), said: said.map(({ fields }) => fields?.left_out) };
    };
    assert.deepEqual(await start(), { found: "", said: [3] });
    assert.deepEqual(await start("b"), { found: "b,b", said: [1] });
    assert.deepEqual(await start("*"), { found: "a,b,b", said: [] });
  });
});
