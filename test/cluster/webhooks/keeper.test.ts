import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { ClusterState } from "../../../src/cluster/cluster-state.js";
import { routeOf, setPath } from "../../../src/cluster/webhooks/derive.js";
import { WebhookDeriver } from "../../../src/cluster/webhooks/from-documents.js";
import { WebhookKeeper, type WebhookReport } from "../../../src/cluster/webhooks/keeper.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { ApiError, ClusterUnreachable } from "../../../src/kubernetes/client/errors.js";
import { ListError } from "../../../src/kubernetes/client/object-pages.js";
import { createLogger } from "../../../src/telemetry/logger.js";
import { TestClock } from "../../support/test-clock.js";
import { kubewarden, kyverno } from "./documents.js";
import { type Configuration, FakeReplicas, FakeStore, type Webhook } from "./fakes.js";

const LABELS = { "app.kubernetes.io/managed-by": "policy-server" };

class Kept {
  readonly store = new FakeStore();
  readonly replicas = new FakeReplicas();
  readonly clock = new TestClock();
  readonly lines: string[] = [];
  readonly leading = new AbortController();
  report: WebhookReport | undefined;
  /** Of the webhooks that are wanted. */
  paths: readonly string[] = [];
  ca: string | undefined = "CA";
  readonly glass: { isKnown: boolean; inForce: string | undefined } = { isKnown: true, inForce: undefined };
  readonly keeper: WebhookKeeper;

  constructor(store?: FakeStore) {
    if (store !== undefined) this.store = store;
    const sink = { write: (line: string) => void this.lines.push(line), flushSync: () => {}, dropped: 0 };
    const derive = ({ documents }: ClusterState) =>
      new WebhookDeriver({ ownNamespace: "own", idOf: (key) => key.split("/").at(-1) }).derive(documents.values());
    this.keeper = new WebhookKeeper({
      store: this.store,
      replicas: this.replicas,
      derive: (state) => {
        const derived = derive(state);
        this.paths = derived.webhooks.map(({ path }) => path);
        return derived;
      },
      target: { service: { namespace: "own", name: "policy-server" } },
      caBundle: () => this.ca,
      glass: this.glass,
      identity: { base: "policy-server", labels: LABELS },
      ownerRole: "policy-server",
      clock: this.clock,
      random: () => 0,
      logger: createLogger({ sink, format: "json" }),
      report: (report) => {
        this.report = report;
      },
    });
  }

  /** Resources that can't be read. */
  unread: readonly string[] = [];

  async serve(...documents: readonly ClusterDocument[]): Promise<void> {
    const known = new Map(documents.map((each) => [each.key, each]));
    this.keeper.served({ version: 1, documents: known, sets: [], unread: this.unread });
    await settle();
  }

  /** Served by all replicas at once, and led by this one. */
  async keep(...documents: readonly ClusterDocument[]): Promise<this> {
    await this.serve(...documents);
    this.oneServesAll();
    this.keeper.lead(this.leading.signal);
    await settle();
    return this;
  }

  oneServesAll(): void {
    this.replicas.are(this.paths);
  }

  said(word: string): number {
    return this.lines.filter((line) => line.includes(word)).length;
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}

const V1 = "validating policy-server-1";
const SET = setPath(routeOf(["a", "b"]).hash);
const SET_NAME = `set-${routeOf(["a", "b"]).hash}`;

describe("webhook configurations", () => {
  test("are written by the leader, with owner, labels and where the server is", async () => {
    const kept = new Kept();
    await kept.serve(kubewarden("p"));
    kept.oneServesAll();
    await settle();
    assert.deepEqual(kept.store.writes, []);
    kept.keeper.lead(kept.leading.signal);
    await settle();
    assert.deepEqual(kept.store.writes, ["apply validating policy-server-1 as policy-server"]);
    const { metadata, webhooks } = kept.store.objects.get(V1) ?? {};
    const owner = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "policy-server" };
    assert.deepEqual(metadata, {
      name: "policy-server-1",
      labels: LABELS,
      ownerReferences: [{ ...owner, uid: "owner-uid" }],
    });
    assert.deepEqual(webhooks?.[0]?.clientConfig, {
      service: { namespace: "own", name: "policy-server", path: "/validate/p", port: 443 },
      caBundle: Buffer.from("CA").toString("base64"),
    });
    assert.deepEqual([...(kept.report?.asked ?? [])], ["p"]);
  });

  test("are written once: nothing is done as long as they stand as they should", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    kept.clock.move(300_000);
    await settle();
    assert.equal(kept.store.writes.length, 1);
  });

  test("wait for a certificate, which is said once", async () => {
    const kept = new Kept();
    kept.ca = undefined;
    await kept.keep(kubewarden("p"));
    kept.keeper.look();
    await settle();
    assert.deepEqual(kept.store.writes, []);
    assert.equal(kept.said("wait for a certificate"), 1);
    kept.ca = "CA";
    kept.keeper.look();
    await settle();
    assert.equal(kept.store.writes.length, 1);
  });

  test("are written anew when the certificate changes", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    kept.ca = "CA and new CA";
    kept.keeper.look();
    await settle();
    assert.match(
      JSON.stringify(kept.store.objects.get(V1)),
      new RegExp(Buffer.from("CA and new CA").toString("base64")),
    );
  });

  test("trust what they carry, once the leader has written it or seen that it stands", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    assert.ok(kept.keeper.trusts(["CA"]));
    assert.ok(!kept.keeper.trusts(["CA", "new one"]));
    kept.ca = "CA new one";
    assert.ok(!kept.keeper.trusts(["new one"]));
    kept.store.failing = new ClusterUnreachable("away");
    kept.keeper.look();
    await settle();
    assert.ok(!kept.keeper.trusts(["CA"]));
    kept.store.failing = undefined;
    kept.clock.move(60_000);
    await settle();
    assert.ok(kept.keeper.trusts(["CA", "new one"]));
    const other = new AbortController();
    kept.store.failing = new ClusterUnreachable("away");
    kept.keeper.lead(other.signal);
    assert.ok(!kept.keeper.trusts(["CA"]));
  });

  test("have no owner without the ClusterRole, which is said once", async () => {
    const kept = new Kept();
    kept.store.owner = undefined;
    await kept.keep(kubewarden("p"));
    kept.keeper.look();
    await settle();
    assert.equal(kept.store.objects.get(V1)?.metadata.ownerReferences, undefined);
    assert.equal(kept.said("have no owner"), 1);
  });

  test("what somebody else has changed is put back, and what they have added goes", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    const before = structuredClone(kept.store.objects.get(V1));
    kept.store.edit(V1, (object) => ({
      ...object,
      webhooks: [
        { ...object.webhooks[0], name: "p.kubewarden.admission", failurePolicy: "Ignore" },
        { name: "x.y.z", foreign: true },
      ],
    }));
    await settle();
    assert.deepEqual(kept.store.objects.get(V1), before);
    kept.store.edit(V1, () => undefined);
    await settle();
    assert.deepEqual(kept.store.objects.get(V1), before);
  });

  test("what somebody else changes again and again is put back after longer and longer, and at once when it is new", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    const isRight = () => kept.store.objects.get(V1)?.webhooks[0]?.failurePolicy === "Fail";
    const change = async () => {
      kept.store.edit(V1, (object) => ({
        ...object,
        webhooks: [{ ...object.webhooks[0], name: "p.kubewarden.admission", failurePolicy: "Ignore" }],
      }));
      await settle();
    };
    const waits: number[] = [];
    for (let times = 0; times < 9; times++) {
      await change();
      let waited = 0;
      for (; !isRight(); waited += 100) {
        kept.clock.move(100);
        await settle();
      }
      waits.push(waited);
    }
    assert.deepEqual(waits, [0, 0, 0, 0, 0, 0, 1000, 2000, 4000]);
    assert.equal(kept.said("again and again"), 1);
    await change();
    await kept.serve(kubewarden("p"));
    assert.ok(isRight());
  });

  test("go when nobody wants them any more", async () => {
    const kept = await new Kept().keep(kubewarden("p"), kubewarden("m", { mutating: true }));
    await kept.serve(kubewarden("p"));
    assert.deepEqual(Object.keys(kept.store.objects.size === 1 ? kept.store.standing : {}), [V1]);
    await kept.serve();
    assert.equal(kept.store.objects.size, 0);
  });

  test("are left alone by one that leads no more, and taken up by one that leads again", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    kept.leading.abort();
    await kept.serve();
    assert.equal(kept.store.objects.size, 1);
    kept.keeper.lead(new AbortController().signal);
    await settle();
    assert.equal(kept.store.objects.size, 0);
  });
});

describe("what the log says", () => {
  test("is why a policy is not asked as it is written, once", async () => {
    const kept = await new Kept().keep(kubewarden("p", { rules: [] }));
    kept.keeper.look();
    await settle();
    assert.equal(kept.said("has no rule that matches anything"), 1);
  });
});

describe("a webhook that waits", () => {
  test("says for whom, and what hinders them", async () => {
    const kept = new Kept();
    await kept.serve(kubewarden("p"));
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    kept.replicas.live = names.map((name) => ({
      name,
      routes: new Set(),
      facts: { hindered: name === "b" ? "why" : "" },
    }));
    kept.keeper.lead(kept.leading.signal);
    await settle();
    const text = "its webhook waits for the replicas a, b (why), c, d, e and 2 more, which do not serve it yet";
    assert.deepEqual(kept.report?.problems, [{ id: "p", text }]);
  });
});

describe("a webhook appears", () => {
  test("when every live replica serves its path", async () => {
    const kept = new Kept();
    await kept.keep(kubewarden("p"));
    kept.replicas.are(["/validate/p"], []);
    await kept.serve(kubewarden("p"), kubewarden("q"));
    kept.replicas.are(["/validate/p", "/validate/q"], ["/validate/p"]);
    await settle();
    assert.deepEqual(kept.store.standing[V1], ["p"]);
    assert.deepEqual(kept.report?.problems, [
      { id: "q", text: "its webhook waits for the replicas r1, which do not serve it yet" },
    ]);
    kept.replicas.are(["/validate/p", "/validate/q"], ["/validate/p", "/validate/q"]);
    await settle();
    assert.deepEqual(kept.store.standing[V1], ["p", "q"]);
  });

  test("and stays when a replica starts that does not serve it yet", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    kept.replicas.are(["/validate/p"], []);
    await settle();
    assert.deepEqual(kept.store.standing[V1], ["p"]);
  });

  test("in place of those that asked its policies before, which stay until then", async () => {
    const kept = await new Kept().keep(kyverno("a"));
    assert.deepEqual(kept.store.standing[V1], ["a"]);
    await kept.serve(kyverno("a"), kyverno("b"));
    assert.deepEqual(kept.store.standing[V1], ["a"]);
    kept.replicas.are(["/validate/a", SET]);
    await settle();
    assert.deepEqual(kept.store.standing[V1], [SET_NAME]);
    // And back: the set asks about the one that stays.
    kept.replicas.are([SET]);
    await kept.serve(kyverno("b"));
    assert.deepEqual(kept.store.standing[V1], [SET_NAME]);
    kept.oneServesAll();
    await settle();
    assert.deepEqual(kept.store.standing[V1], ["b"]);
  });

  test("after a restart, too: what a set asks about is not known then, and it stays as long as anything waits", async () => {
    const before = await new Kept().keep(kyverno("a"), kyverno("b"));
    assert.deepEqual(before.store.standing[V1], [SET_NAME]);
    await before.keeper.stop();
    const after = new Kept(before.store);
    await after.serve(kyverno("a"), kyverno("c"));
    after.replicas.are([]);
    after.keeper.lead(after.leading.signal);
    await settle();
    assert.deepEqual(after.store.standing[V1], [SET_NAME]);
    after.oneServesAll();
    await settle();
    assert.deepEqual(after.store.standing[V1], [`set-${routeOf(["a", "c"]).hash}`]);
  });

  test("and stays while some kind can't be read, if its policies may be of that kind", async () => {
    const before = await new Kept().keep(kyverno("a"), kubewarden("p"), kubewarden("q"));
    await before.keeper.stop();
    const after = new Kept(before.store);
    after.unread = ["validatingpolicies.policies.kyverno.io"];
    await after.keep(kubewarden("p"), kubewarden("q"));
    assert.deepEqual(after.store.standing[V1], ["a", "p", "q"]);
    assert.equal(after.said("stay: validatingpolicies.policies.kyverno.io cannot be read"), 1);
    // What this process has known, and is not there any more, is gone.
    await after.serve(kubewarden("p"));
    assert.deepEqual(after.store.standing[V1], ["a", "p"]);
    after.unread = [];
    await after.serve(kubewarden("p"));
    assert.deepEqual(after.store.standing[V1], ["p"]);
  });

  test("but that of a policy that is gone goes at once", async () => {
    const kept = await new Kept().keep(kubewarden("gone"), kubewarden("p"));
    kept.replicas.are([]);
    await kept.serve(kubewarden("p"), kubewarden("new"));
    assert.deepEqual(kept.store.standing[V1], ["p"]);
  });
});

describe("what the API server refuses", () => {
  test("of match conditions that policies look at again is left to them, once for each version", async () => {
    const kept = new Kept();
    const dear = ({ matchConditions }: Webhook): string | undefined =>
      JSON.stringify(matchConditions ?? "").includes("dear")
        ? "matchConditions[0].expression: Invalid value: estimated cost exceeds budget"
        : undefined;
    kept.store.refuse = dear;
    const matchConditions = [{ name: "dear", expression: "object.kind == 'x'" }];
    const rules = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE"], resources: ["*"] }];
    await kept.keep(kyverno("k", { matchConditions, matchConstraints: { resourceRules: rules } }), kubewarden("p"));
    assert.deepEqual(kept.store.standing[V1], ["k", "p"]);
    assert.deepEqual([...(kept.report?.asked ?? [])], ["k", "p"]);
    assert.deepEqual(kept.report?.problems, []);
    const conditions = () =>
      kept.store.objects
        .get(V1)
        ?.webhooks.map(({ matchConditions: own }) => (own as { name: string }[] | undefined)?.map(({ name }) => name));
    // What no webhook asks about stays left out.
    assert.deepEqual(conditions(), [["policy-server.admission/asked-about"], undefined]);
    const { length } = kept.store.writes;
    kept.keeper.look();
    await settle();
    assert.equal(kept.store.writes.length, length);
    assert.equal(kept.said("refuses match conditions"), 1);
  });

  test("of a policy that never looks at its match conditions again keeps its webhook out", async () => {
    const kept = new Kept();
    kept.store.refuse = ({ matchConditions }) =>
      matchConditions === undefined ? undefined : "matchConditions[0].expression: Invalid value";
    await kept.keep(kubewarden("p", { matchConditions: [{ name: "c", expression: "x(" }] }));
    assert.equal(kept.store.objects.size, 0);
    assert.match(kept.report?.problems[0]?.text ?? "", /^the API server refuses its webhook: matchConditions/);
  });

  test("keeps no other webhook out, and is told", async () => {
    const kept = new Kept();
    kept.store.refuse = ({ name }) => (name.startsWith("bad") ? "rules: Required value" : undefined);
    await kept.keep(kubewarden("a"), kubewarden("bad1"), kubewarden("bad2"), kubewarden("z"));
    assert.deepEqual(kept.store.standing[V1], ["a", "z"]);
    assert.deepEqual(
      kept.report?.problems.map(({ id, text }) => `${id}: ${text}`),
      ["bad1", "bad2"].map((id) => `${id}: the API server refuses its webhook: rules: Required value`),
    );
    assert.ok(kept.report?.problems.every(({ reason }) => reason === "WebhookRefused"));
    assert.deepEqual(kept.keeper.standing, { refused: 2, unwritable: false });
    assert.deepEqual([...(kept.report?.asked ?? [])], ["a", "z"]);
    const { length } = kept.store.writes;
    kept.keeper.look();
    await settle();
    assert.equal(kept.store.writes.length, length);
  });

  test("leaves what stood before, and is tried again when the policy has changed", async () => {
    const kept = await new Kept().keep(kubewarden("p", { timeoutSeconds: 5 }));
    kept.store.refuse = ({ timeoutSeconds }) => (timeoutSeconds === 6 ? "timeoutSeconds: Invalid value: 6" : undefined);
    await kept.serve(kubewarden("p", { timeoutSeconds: 6 }));
    assert.equal(kept.store.objects.get(V1)?.webhooks[0]?.timeoutSeconds, 5);
    await kept.serve(kubewarden("p", { timeoutSeconds: 7 }));
    assert.equal(kept.store.objects.get(V1)?.webhooks[0]?.timeoutSeconds, 7);
    assert.deepEqual(kept.report?.problems, []);
  });

  test("to have anything written is told of what has changed and what is new, and of nothing that stands", async () => {
    const kept = await new Kept().keep(kubewarden("a"), kubewarden("b"));
    kept.store.refuseAll = () => new ApiError(403, "Forbidden", "may not patch");
    await kept.serve(kubewarden("a"), kubewarden("b", { timeoutSeconds: 5 }), kubewarden("new"), kubewarden("late"));
    kept.replicas.are(kept.paths.filter((path) => !path.endsWith("late")));
    await settle();
    const unwritten = "webhook configurations cannot be kept: may not patch";
    const told = (kept.report?.problems ?? []).map(({ id, text, reason }) => `${id} ${reason}: ${text}`);
    assert.deepEqual(told.slice(0, 1), [`b WebhookNotWritable: ${unwritten}`]);
    assert.match(told[1] ?? "", /^late undefined: its webhook waits for/);
    assert.deepEqual(told.slice(2), [`new WebhookNotWritable: ${unwritten}`]);
    assert.deepEqual([...(kept.report?.asked ?? [])], ["a"]);
    assert.deepEqual(kept.keeper.standing, { refused: 0, unwritable: true });
    kept.store.refuseAll = () => undefined;
    kept.keeper.look();
    await settle();
    assert.deepEqual([...(kept.report?.asked ?? [])].sort(), ["a", "b", "new"]);
    assert.equal(kept.keeper.standing.unwritable, false);
  });

  test("to have anything read is told of what is not known to stand", async () => {
    const kept = await new Kept().keep(kubewarden("a"));
    kept.store.failing = new ListError("page 1", { cause: new ApiError(403, "Forbidden", "may not list") });
    await kept.serve(kubewarden("a"), kubewarden("b"));
    kept.oneServesAll();
    await settle();
    assert.deepEqual([...(kept.report?.asked ?? [])], ["a"]);
    assert.deepEqual(
      kept.report?.problems.map(({ id, reason }) => [id, reason]),
      [["b", "WebhookNotWritable"]],
    );
    kept.leading.abort();
    assert.equal(kept.keeper.standing.unwritable, false, "one that leads no more writes nothing");
  });

  test("as a whole is said once, and tried again after longer and longer", async () => {
    const kept = new Kept();
    kept.store.failing = new ApiError(403, "Forbidden", "may not list");
    await kept.keep(kubewarden("p"));
    for (const wait of [500, 1_000, 2_000]) {
      assert.equal(kept.said("may not list"), 1);
      kept.clock.move(wait - 1);
      await settle();
      if (wait === 2_000) kept.store.failing = undefined;
      assert.equal(kept.store.objects.size, 0);
      kept.clock.move(1);
      await settle();
    }
    assert.equal(kept.store.objects.size, 1);
    kept.store.failing = new ClusterUnreachable("away");
    kept.keeper.look();
    await settle();
    assert.equal(kept.said("away"), 1);
    assert.equal(kept.store.objects.size, 1);
  });
});

describe("break-glass", () => {
  test("withdraws all webhooks, whoever puts them back and whatever is missing, and they come back after it", async () => {
    const kept = await new Kept().keep(kubewarden("p"), kubewarden("m", { mutating: true }));
    const before = new Map(kept.store.objects);
    assert.equal(before.size, 2);
    kept.glass.inForce = "break-glass is in force until noon, written by ann";
    // Neither a certificate, nor what replicas serve, nor a kind that is unread is needed for it.
    kept.ca = undefined;
    kept.replicas.are();
    kept.unread = ["validatingpolicies.policies.kyverno.io"];
    kept.keeper.interrupt();
    await settle();
    assert.equal(kept.store.objects.size, 0);
    assert.equal(kept.report?.withdrawn, kept.glass.inForce);
    assert.deepEqual([...(kept.report?.asked ?? [])].sort(), ["m", "p"]);
    kept.store.objects.set(V1, before.get(V1) as Configuration);
    kept.store.edit(V1, (object) => object);
    await settle();
    assert.equal(kept.store.objects.size, 0);
    kept.ca = "CA";
    kept.unread = [];
    await kept.serve(kubewarden("p"), kubewarden("m", { mutating: true }), kubewarden("new"));
    assert.equal(kept.store.objects.size, 0);
    kept.oneServesAll();
    kept.glass.inForce = undefined;
    kept.keeper.interrupt();
    await settle();
    assert.deepEqual([...kept.store.objects.keys()].sort(), [...before.keys()].sort());
    assert.equal(kept.report?.withdrawn, undefined);
  });

  test("is waited for by a leader that does not know yet whether it is in force", async () => {
    const kept = new Kept();
    kept.glass.isKnown = false;
    await kept.keep(kubewarden("p"));
    kept.keeper.look();
    await settle();
    assert.equal(kept.store.objects.size, 0);
    kept.glass.isKnown = true;
    kept.keeper.interrupt();
    await settle();
    assert.equal(kept.store.objects.size, 1);
  });

  test("does not wait for a write that hangs, nor for the pause after a failure", async () => {
    const kept = await new Kept().keep(kubewarden("p"));
    let hangs = 0;
    const { list } = kept.store;
    kept.store.list = (type, signal: AbortSignal) => {
      if (hangs++ > 1) return list.call(kept.store, type, signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    };
    kept.keeper.look();
    await settle();
    kept.glass.inForce = "in force";
    kept.keeper.interrupt();
    await settle();
    assert.equal(kept.store.objects.size, 0);
  });
});
