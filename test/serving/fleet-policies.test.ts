/** One load after the other in all processes, whatever comes at the same time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterState } from "../../src/cluster/cluster-state.js";
import type { ClusterDelta, LoadedPolicyReport } from "../../src/config/from-cluster/cluster-document.js";
import type { Answer, Child } from "../../src/serving/fleet.js";
import { FleetPolicies } from "../../src/serving/fleet-policies.js";
import type { Prepared, ToWorker } from "../../src/serving/messages.js";
import { keptLog } from "../cluster/approver/support.js";
import { TestClock } from "../support/test-clock.js";

const delta = (version: number): ClusterDelta => ({
  ...{ version, base: version - 1, removed: [], sets: [] },
  put: [{ key: "a", uid: "a", resourceVersion: "1", generation: 1, text: "" }],
});

const STATE: ClusterState = {
  ...{ version: 1, sets: [], unread: [] },
  documents: new Map(delta(1).put.map((document) => [document.key, document])),
};

const report = (state: LoadedPolicyReport["state"]): LoadedPolicyReport => ({
  ...{ id: "a", key: "a", generation: 1, state, problems: [] },
});

/** Processes, and what they were told; each answers with what `answer` says. */
function fleetWith(...ids: number[]) {
  const clock = new TestClock();
  const told: string[] = [];
  /** The generation that each serves. */
  const serving = new Map<Child, number>();
  const test = {
    answer: (_: Child, __: ToWorker): Partial<Prepared> | "gone" => ({}),
    prefetch: (): Promise<void> => Promise.resolve(),
  };
  const fleet = {
    ask: async (asked: readonly Child[], _: number, question: (id: number) => ToWorker) => {
      const message = question(1);
      const what = message.type !== "prepare" ? message.type : message.delta ? `load ${message.delta.base}` : "files";
      const answers = asked.map((child): [Child, Answer] => {
        told.push(`${child.id} ${what}`);
        if (message.type !== "prepare") return [child, { type: "swapped", id: 1 }];
        const answer = test.answer(child, message);
        if (answer === "gone") serving.delete(child);
        return [child, answer === "gone" ? answer : { type: "prepared", id: 1, files: [], ok: true, ...answer }];
      });
      return new Map(answers);
    },
    tell: (child: Child, message: ToWorker) => void told.push(`${child.id} ${message.type}`),
    kill: (child: Child) => void told.push(`${child.id} killed`),
    serves: (child: Child, generation: number) => void serving.set(child, generation),
    hold: () => {},
    release: () => {},
    get serving() {
      return [...serving.keys()];
    },
    get outdated(): Child[] {
      return [...serving].filter(([, generation]) => generation !== policies.generation).map(([child]) => child);
    },
    get current(): Child[] {
      return [...serving].filter(([, generation]) => generation === policies.generation).map(([child]) => child);
    },
  };
  const reports: LoadedPolicyReport[] = [];
  const policies: FleetPolicies = new FleetPolicies({
    ...{ fleet, clock, logger: keptLog().logger },
    prefetch: () => test.prefetch(),
    loading: (generation) => void told.push(`loading ${generation}`),
    served: () => {},
    loaded: (changed) => void reports.push(...changed),
  });
  /** A process serves that was started when all served this generation. */
  const begin = (id: number, generation: number): Child => {
    const child = { id } as Child;
    serving.set(child, generation);
    return child;
  };
  for (const id of ids) begin(id, 1);
  return Object.assign(test, { fleet, policies, told, reports, begin, clock });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("the policies of all processes", () => {
  test("a process that has missed a reload of the files catches up, whatever changes in the cluster before", async () => {
    const { policies, fleet, told, begin } = fleetWith(1);
    await policies.reload();
    const late = begin(2, 1);
    told.length = 0;
    const served = policies.serve(delta(1), STATE);
    await Promise.all([policies.catchUp(late), served]);
    assert.ok(told.includes("2 files"), told.join());
    assert.deepEqual(fleet.outdated, []);
  });

  test("a reload that waits for modules has another number than what has changed in the cluster meanwhile", async () => {
    const started = fleetWith(1);
    const { policies, told, begin } = started;
    let fetched = (): void => {};
    started.prefetch = () => new Promise((resolve) => (fetched = resolve));
    const reloaded = policies.reload();
    await policies.serve(delta(1), STATE);
    const late = begin(2, policies.generation);
    fetched();
    started.prefetch = () => Promise.resolve();
    assert.equal(await reloaded, "applied");
    assert.equal(policies.generation, 3);
    assert.ok(told.includes("loading 3"));
    await policies.catchUp(late);
    assert.ok(told.includes("2 files"));
  });

  test("files that are kept out do not keep what the cluster has from a process that has missed it", async () => {
    const started = fleetWith(1);
    const { policies, told, begin } = started;
    await policies.serve(delta(1), STATE);
    const late = begin(2, 1);
    started.answer = (child, message) =>
      child === late && message.type === "prepare" && message.delta === undefined ? { ok: false } : {};
    told.length = 0;
    await policies.catchUp(late);
    assert.deepEqual(told, ["2 load 0", "2 swap", "2 files", "2 discard"]);
  });

  test("what successors have loaded of a change that nobody has outlived is told", async () => {
    const started = fleetWith(1);
    const { policies, told, reports, begin, clock } = started;
    started.answer = () => "gone";
    let done = false;
    const served = policies.serve(delta(1), STATE).finally(() => {
      done = true;
    });
    await settled();
    const successor = begin(2, 1);
    policies.begin(successor, 0);
    policies.began(successor, [report("loaded")]);
    assert.deepEqual(reports, [report("loaded")]);
    started.answer = (_, message) =>
      message.type === "prepare" && message.delta?.base !== 0
        ? { ok: false, needs: "whole" }
        : { reports: [report("loaded")] };
    while (!done) {
      clock.move(1000);
      await settled();
    }
    assert.deepEqual(await served, []);
    assert.ok(told.includes("2 begin"));
    // One that can't load what others serve is replaced; what it said counts no more.
    policies.began(begin(3, 1), [report("unavailable")]);
    policies.ended({ id: 3 } as Child);
    assert.deepEqual(
      reports.map(({ state }) => state),
      ["loaded", "unavailable", "loaded"],
    );
  });

  test("what a file's policies take of the cluster's, or give up, is told", async () => {
    const started = fleetWith(1);
    await started.policies.serve(delta(1), STATE);
    started.answer = () => ({ reports: [report("unavailable")] });
    await started.policies.reload();
    assert.deepEqual(started.reports, [report("unavailable")]);
  });

  test("what can be loaded at last is loaded once for all that say so", async () => {
    const { policies, told, clock } = fleetWith(1, 2);
    await policies.serve(delta(1), STATE);
    told.length = 0;
    policies.tryAgain();
    policies.tryAgain();
    clock.move(200);
    await settled();
    assert.deepEqual(told, ["1 load 1", "2 load 1", "1 swap", "2 swap"]);
  });
});
