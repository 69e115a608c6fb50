import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AuditPart } from "../../../src/cluster/audit/audit-part.js";
import type { FromAuditor, RoundReport, ToAuditor } from "../../../src/cluster/audit/messages.js";
import type { ClusterState } from "../../../src/cluster/cluster-state.js";
import type { PartContext } from "../../../src/cluster/part.js";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { ClusterDocuments } from "../../../src/config/from-cluster/index.js";
import { TestClock } from "../../support/test-clock.js";

/** Two do not fit into a message. */
const LONG = "x".repeat(600_000);

const document = (key: string, text = ""): ClusterDocument => ({
  key,
  uid: key,
  resourceVersion: "1",
  generation: 1,
  text,
});
const stateOf = (version: number, ...documents: ClusterDocument[]): ClusterState => ({
  version,
  documents: new Map(documents.map((each) => [each.key, each])),
  sets: [],
  unread: [],
});

function begin() {
  const clock = new TestClock();
  const lines: string[] = [];
  const log = Object.fromEntries(
    ["debug", "info", "warn", "error"].map((level) => [level, (line: string) => lines.push(`${level} ${line}`)]),
  ) as unknown as PartContext["log"];
  Object.assign(log, { log: (level: string, line: string) => lines.push(`${level} ${line}`) });
  const replicas = { live: [{ name: "a" }], call: () => {} };
  const gauges = new Map<string, () => number>();
  let results: () => Iterable<unknown> = () => [];
  let state: ClusterState | undefined;
  let evaluations = 0;
  const started: { sent: ToAuditor[]; hear: (message: FromAuditor) => void; ended: (how: string) => void }[] = [];
  const context = {
    clock,
    log,
    cluster: { http: { outage: { settling: false } } },
    settings: { replica: "a" },
    replicas: {
      get live() {
        return replicas.live;
      },
      changed: (call: () => void) => {
        replicas.call = call;
        return () => {};
      },
    },
    metrics: {
      gauge: (name: string, read: () => number) => gauges.set(name, read),
      auditResults: (read: () => Iterable<unknown>) => {
        results = read;
      },
    },
    state: () => state,
  } as unknown as PartContext;
  const part = new AuditPart(
    context,
    (hear, ended) => {
      const sent: ToAuditor[] = [];
      started.push({ sent, hear, ended });
      return { send: (message) => sent.push(message), end: async () => {} };
    },
    () => evaluations,
  );
  return {
    part,
    clock,
    started,
    lines,
    gauges,
    replicas,
    results: () => [...results()],
    serve(next: ClusterState) {
      state = next;
      part.served(next);
    },
    evaluate: () => {
      evaluations += 1;
    },
    last: () => started.at(-1),
  };
}

const report = (more: Partial<RoundReport> = {}): RoundReport => ({
  objects: 5,
  evaluated: 4,
  milliseconds: 2_000,
  ended: 9_000,
  isComplete: true,
  results: [{ policy: "p", result: "fail", objects: 2 }],
  problems: [],
  leftOut: [],
  ...more,
});

describe("the agent's audit", () => {
  test("begins with the first state, and is told all when it asks, then what changes", () => {
    const { serve, started, last } = begin();
    assert.equal(started.length, 0);
    const [a, b] = [document("a"), document("b")];
    serve(stateOf(1, a, b));
    assert.equal(started.length, 1);
    last()?.hear({ type: "wants-all" });
    assert.deepEqual(
      last()?.sent.filter(({ type }) => type !== "busy"),
      [
        { type: "replicas", live: ["a"], own: "a" },
        { type: "policies", delta: { version: 1, base: 0, put: [a, b], removed: [], sets: [] } },
      ],
    );
    const changed = document("a", "new");
    serve(stateOf(2, changed));
    assert.deepEqual(last()?.sent.at(-1), {
      type: "policies",
      delta: { version: 2, base: 1, put: [changed], removed: ["b"], sets: [] },
    });
    const count = last()?.sent.length;
    serve(stateOf(3, changed));
    assert.equal(last()?.sent.length, count, "nothing has changed");
    last()?.hear({ type: "wants-all" });
    assert.deepEqual(last()?.sent.at(-1), {
      type: "policies",
      delta: { version: 3, base: 0, put: [changed], removed: [], sets: [] },
    });
  });

  test("is told of many policies little by little, and of what changes meanwhile", () => {
    const { serve, last, clock } = begin();
    const [a, b, c, changed] = [
      document("a", LONG),
      document("b", LONG),
      document("c", LONG),
      document("a", `${LONG}!`),
    ];
    serve(stateOf(1, a, b, c));
    last()?.hear({ type: "wants-all" });
    const told = () => last()?.sent.flatMap((each) => (each.type === "policies" ? [each.delta] : [])) ?? [];
    const brief = () =>
      told().map(({ version, base, put, removed }) => [version, base, put.map(({ key }) => key), removed]);
    assert.deepEqual(brief(), [[1, 0, ["a"], []]]);
    serve(stateOf(2, changed, c));
    assert.deepEqual(brief().slice(1), [[2, 1, ["a"], []]]);
    clock.move(0);
    assert.deepEqual(brief().slice(2), [[2, 2, ["c"], []]]);
    const documents = new ClusterDocuments();
    for (const delta of told()) assert.ok(documents.apply(delta));
    assert.deepEqual([...documents.documents.values()], [changed, c]);
  });

  test("is told of kinds that can't be read before what is missing of them, each time that changes", () => {
    const { serve, last } = begin();
    const a = document("a");
    serve({ ...stateOf(1, a), unread: ["xs.example.com"] });
    last()?.hear({ type: "wants-all" });
    const told = () => last()?.sent.flatMap((each) => (each.type === "unread" ? [each.resources] : []));
    assert.deepEqual(told(), [["xs.example.com"]]);
    const types = last()?.sent.map(({ type }) => type) ?? [];
    assert.ok(types.indexOf("unread") < types.indexOf("policies"));
    serve({ ...stateOf(1, a), unread: ["xs.example.com"] });
    serve(stateOf(1, a));
    assert.deepEqual(told(), [["xs.example.com"], []]);
    last()?.hear({ type: "wants-all" });
    assert.deepEqual(told(), [["xs.example.com"], []], "none is what it begins with");
  });

  test("hears of replicas that come and go, not of all that they say", () => {
    const { serve, last, replicas } = begin();
    serve(stateOf(1));
    last()?.hear({ type: "wants-all" });
    const sent = () => last()?.sent.filter(({ type }) => type === "replicas").length;
    replicas.call();
    assert.equal(sent(), 1);
    replicas.live = [{ name: "a" }, { name: "b" }];
    replicas.call();
    assert.equal(sent(), 2);
  });

  test("hears whether requests come", () => {
    const { serve, last, clock, evaluate } = begin();
    serve(stateOf(1));
    last()?.hear({ type: "wants-all" });
    const busy = () => last()?.sent.flatMap((message) => (message.type === "busy" ? [message.busy] : []));
    for (let i = 0; i < 3; i++) {
      evaluate();
      clock.move(1_000);
    }
    clock.move(3_000);
    assert.deepEqual(busy()?.slice(-2), [true, false]);
    assert.equal(busy()?.filter(Boolean).length, 1, "once each time");
  });

  test("is begun anew when it ends, later each time, and not when all ends", async () => {
    const { part, serve, started, last, clock, lines } = begin();
    serve(stateOf(1));
    last()?.ended("SIGKILL");
    serve(stateOf(2));
    assert.equal(started.length, 1, "it waits");
    clock.move(1_000);
    assert.equal(started.length, 2);
    last()?.ended("1");
    clock.move(1_999);
    assert.equal(started.length, 2);
    clock.move(1);
    assert.equal(started.length, 3);
    assert.equal(lines.filter((line) => line.startsWith("error the process that audits")).length, 2);
    clock.move(600_000);
    last()?.ended("1");
    clock.move(1_000);
    assert.equal(started.length, 4, "one that was steady is replaced at once");
    const stopped = part.stop();
    last()?.ended("0");
    await stopped;
    clock.move(1_000_000);
    assert.equal(started.length, 4);
  });

  test("says once what is wrong, and shows the last round in metrics", () => {
    const { serve, last, lines, gauges, results } = begin();
    serve(stateOf(1));
    const wrong = report({ problems: ["pods can't be listed"], leftOut: [{ policy: "x", reason: "y" }] });
    last()?.hear({ type: "round", report: wrong });
    last()?.hear({ type: "round", report: wrong });
    assert.deepEqual(
      lines.filter((line) => line.startsWith("warn")),
      ["warn audit: pods can't be listed", "warn audit: the policy x is not asked: y"],
    );
    const values = Object.fromEntries([...gauges].map(([name, read]) => [name, read()]));
    assert.deepEqual(values, {
      audit_objects: 5,
      audit_evaluated_objects: 4,
      audit_duration_seconds: 2,
      audit_timestamp_seconds: 9,
      audit_problems: 2,
    });
    assert.deepEqual(results(), [{ policy: "p", result: "fail", objects: 2 }]);
    last()?.hear({ type: "round", report: report() });
    last()?.hear({ type: "round", report: wrong });
    assert.equal(lines.filter((line) => line.startsWith("warn")).length, 4, "what comes back is said again");
  });
});
