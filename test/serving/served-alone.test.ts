import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterState } from "../../src/cluster/cluster-state.js";
import type { ClusterDelta, LoadedPolicyReport } from "../../src/config/from-cluster/cluster-document.js";
import type { Prepared } from "../../src/serving/messages.js";
import { ServedAlone } from "../../src/serving/serve-alone.js";

const REPORT: LoadedPolicyReport = { id: "a", key: "a", generation: 1, state: "loaded", problems: [] };

const delta = (version: number): ClusterDelta => ({ version, base: version - 1, put: [], removed: [], sets: [] });

const stateOf = (version: number): ClusterState => ({ version, documents: new Map(), sets: [], unread: [] });

/** The process, which answers as it is told to, and what was asked of it. */
function aloneWith(...answers: Prepared[]) {
  const asked: string[] = [];
  const process = {
    prepare: async (_: number | undefined, given?: ClusterDelta) => {
      asked.push(`prepare ${given?.base}-${given?.version}`);
      return answers.shift() ?? { ok: true };
    },
    swap: () => asked.push("swap"),
    discard: () => asked.push("discard"),
  };
  const alone = new ServedAlone(
    process as unknown as ConstructorParameters<typeof ServedAlone>[0],
    (work) => work(),
    () => 0,
  );
  return { alone, asked };
}

describe("what has changed in a cluster, for the only process", () => {
  test("is prepared, then served", async () => {
    const { alone, asked } = aloneWith({ ok: true, reports: [REPORT] });
    assert.deepEqual(await alone.serve(delta(1), stateOf(1)), [REPORT]);
    assert.deepEqual(asked, ["prepare 0-1", "swap"]);
  });

  test("comes whole where something was missed, and again where it could not be loaded", async () => {
    const { alone, asked } = aloneWith({ ok: false, needs: "whole" }, { ok: false }, { ok: true });
    await alone.serve(delta(2), stateOf(2));
    assert.deepEqual(asked, ["prepare 1-2", "prepare 0-2", "discard", "prepare 1-2", "swap"]);
  });

  test("may be nothing but what could not be had before", async () => {
    const { alone, asked } = aloneWith();
    assert.equal(await alone.again(), undefined);
    await alone.serve(delta(1), stateOf(1));
    assert.deepEqual(await alone.again(), []);
    assert.deepEqual(asked.slice(2), ["prepare 1-1", "swap"]);
    alone.stop();
    assert.equal(await alone.again(), undefined);
    assert.deepEqual(await alone.serve(delta(2), stateOf(2)), []);
  });
});
