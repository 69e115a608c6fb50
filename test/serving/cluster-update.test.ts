import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ClusterState, wholeOf } from "../../src/cluster/cluster-state.js";
import type { ClusterDelta, LoadedPolicyReport } from "../../src/config/from-cluster/cluster-document.js";
import type { Answer, Child } from "../../src/serving/fleet.js";
import { updateFromCluster } from "../../src/serving/fleet-policies.js";
import type { Prepared, ToWorker } from "../../src/serving/messages.js";

const document = (key: string, text = key) => ({ key, uid: key, resourceVersion: "1", generation: 1, text });

const delta = (version: number, more: Partial<ClusterDelta> = {}): ClusterDelta => ({
  ...{ version, base: version - 1, put: [], removed: [], sets: [] },
  ...more,
});

const stateOf = (version: number, ...put: readonly ReturnType<typeof document>[]): ClusterState => ({
  ...{ version, documents: new Map(put.map((each) => [each.key, each])), sets: [], unread: [] },
});

const report = (state: LoadedPolicyReport["state"]): LoadedPolicyReport => ({
  ...{ id: "a", key: "a", generation: 1, state, problems: [] },
});

/** Processes that answer as they are told to, and what they were told. */
function fleetOf(answers: Readonly<Record<number, (message: ToWorker) => Partial<Prepared> | "gone" | "late">>) {
  const told: string[] = [];
  const children = Object.keys(answers).map((id) => ({ id: Number(id) }) as Child);
  const fleet = {
    ask: async (asked: readonly Child[], _: number, question: (id: number) => ToWorker) => {
      const message = question(1);
      return new Map(
        asked.map((child): [Child, Answer] => {
          const base = message.type === "prepare" ? ` ${message.delta?.base}` : "";
          told.push(`${child.id} ${message.type}${base}`);
          if (message.type === "swap") return [child, { type: "swapped", id: 1 }];
          const answer = answers[child.id]?.(message) ?? "gone";
          return [
            child,
            typeof answer === "string" ? answer : { type: "prepared", id: 1, files: [], ok: true, ...answer },
          ];
        }),
      );
    },
    tell: (child: Child, message: ToWorker) => told.push(`${child.id} ${message.type}`),
    kill: (child: Child) => told.push(`${child.id} killed`),
  };
  return { fleet, children, told };
}

describe("what has changed in a cluster", () => {
  test("is served by all processes when all have loaded it, each with what it says of policies", async () => {
    const { fleet, children, told } = fleetOf({
      1: () => ({ reports: [report("loaded")] }),
      2: () => ({ reports: [report("unavailable")] }),
    });
    const loaded = await updateFromCluster(fleet, children, delta(2), stateOf(2), 7);
    assert.deepEqual(
      Array.from(loaded, ([{ id }, said]) => [id, said]),
      [
        [1, { reports: [report("loaded")], isWhole: false }],
        [2, { reports: [report("unavailable")], isWhole: false }],
      ],
    );
    assert.deepEqual(told, ["1 prepare 1", "2 prepare 1", "1 swap", "2 swap"]);
  });

  test("has its modules fetched by one process at first: the others find them", async () => {
    let fetched = false;
    const { fleet, children } = fleetOf({
      1: () => {
        queueMicrotask(() => {
          fetched = true;
        });
        return {};
      },
      2: () => ({ ok: fetched }),
      3: () => ({ ok: fetched }),
    });
    const put = [document("a", '"module": "registry://example.org/a:v1"')];
    const loaded = await updateFromCluster(fleet, children, delta(1, { put }), stateOf(1, ...put), 7);
    assert.equal(loaded.size, 3);
  });

  test("comes whole for a process that has missed something", async () => {
    const state = stateOf(2, document("b"), document("c"));
    const { fleet, children, told } = fleetOf({
      1: () => ({}),
      2: (message) => (message.type === "prepare" && message.delta?.base !== 0 ? { ok: false, needs: "whole" } : {}),
    });
    const loaded = await updateFromCluster(fleet, children, delta(2), state, 7);
    assert.deepEqual(
      Array.from(loaded.values(), ({ isWhole }) => isWhole),
      [false, true],
    );
    assert.deepEqual(told.slice(0, 3), ["1 prepare 1", "2 prepare 1", "2 prepare 0"]);
    assert.deepEqual(told.slice(-2), ["1 swap", "2 swap"]);
    assert.deepEqual(wholeOf(state), {
      ...{ version: 2, base: 0, removed: [], sets: [] },
      put: [document("b"), document("c")],
    });
  });

  test("is not kept from the others by a process that can't load it, is late, or has gone", async () => {
    const { fleet, children, told } = fleetOf({
      1: () => ({}),
      2: () => ({ ok: false }),
      3: () => "late",
      4: () => "gone",
    });
    assert.equal((await updateFromCluster(fleet, children, delta(2), stateOf(2), 7)).size, 1);
    assert.deepEqual(told.slice(4), ["2 discard", "2 killed", "3 discard", "3 killed", "1 swap"]);
  });

  test("is served by nobody, and nobody is killed, when no process can load it", async () => {
    const { fleet, children, told } = fleetOf({ 1: () => ({ ok: false }), 2: () => "late" });
    assert.equal((await updateFromCluster(fleet, children, delta(2), stateOf(2), 7)).size, 0);
    assert.deepEqual(told.slice(2), ["1 discard", "2 discard"]);
  });
});
