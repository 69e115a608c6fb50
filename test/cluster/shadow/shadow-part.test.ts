import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { factText } from "../../../src/cluster/shadow/fact.js";
import { LAST_WORD_MS, LOOK_MS } from "../../../src/cluster/shadow/shadow-part.js";
import { NONE } from "../../../src/policy/served/shadow/tally.js";

import { eventually, KEY, type Named, PREFIX, Stage, settle, stripped } from "./stage.js";

const SHADOW = { rollout: "shadow" };
const ACTIVE = JSON.stringify({ generation: 1, spec: { word: "one" } });

describe("what the leader notes in a policy", () => {
  test("is the version in force, before anything changes", async (context) => {
    const stage = await Stage.start(context);
    stage.write(1, "one", {});
    stage.serve();
    stage.lead();
    stage.write(1, "one", SHADOW);
    stage.serve();
    await stage.patched(1);
    assert.deepEqual(stage.notes(), [{ generation: 1, spec: { word: "one" } }, undefined]);
    assert.equal(stage.server.patches[0]?.type, "application/merge-patch+json");
  });

  test("is nothing in force for a policy that came with its rollout, also when others have written into it since", async (context) => {
    const created = "2026-01-02T03:04:05Z";
    const stage = await Stage.start(context);
    const managedFields = [
      {
        manager: "kubectl-create",
        time: created,
        fieldsV1: { "f:metadata": { "f:annotations": { [`f:${PREFIX}rollout`]: {} } } },
      },
      { manager: "policy-server", time: "2026-01-02T03:04:06Z", subresource: "status" },
    ];
    stage.write(1, "one", SHADOW, { creationTimestamp: created, managedFields });
    stage.serve();
    stage.lead();
    await stage.patched(1);
    assert.deepEqual(stage.notes()[0], { generation: 0 });
  });

  test("is what was in force, of a policy that was rolled out while nobody was there", async (context) => {
    const stage = await Stage.start(context);
    const managedFields = [
      {
        manager: "kubectl-annotate",
        time: "2026-02-02T03:04:05Z",
        fieldsV1: { "f:metadata": { "f:annotations": { [`f:${PREFIX}rollout`]: {} } } },
      },
      { manager: "policy-server", time: "2026-01-02T03:04:06Z", subresource: "status" },
    ];
    stage.write(1, "one", SHADOW, { creationTimestamp: "2026-01-02T03:04:05Z", managedFields });
    stage.serve();
    stage.lead();
    await stage.patched(1);
    assert.deepEqual(stage.notes()[0], { generation: 1, spec: { word: "one" } });
  });

  test("is taken away when the rollout ends", async (context) => {
    const stage = await Stage.start(context);
    stage.write(2, "two", { "active-spec": ACTIVE, "shadow-record": "{}" });
    stage.serve();
    stage.lead();
    await stage.patched(1);
    assert.deepEqual(stage.notes(), [undefined, undefined]);
  });

  test("is not written by a replica that does not lead", async (context) => {
    const stage = await Stage.start(context);
    stage.write(2, "two", { ...SHADOW, "active-spec": ACTIVE });
    stage.serve();
    await settle();
    assert.deepEqual(stage.server.requests, []);
  });

  for (const [what, generation, more] of [
    ["another version", 3, {}],
    ["other annotations", 2, { promote: "1" }],
  ] as const) {
    test(`is not written into a policy that has ${what} by now`, async (context) => {
      const stage = await Stage.start(context);
      stage.write(2, "two", { ...SHADOW, "active-spec": ACTIVE });
      stage.serve();
      stage.write(generation, "two", { ...SHADOW, "active-spec": ACTIVE, ...more });
      stage.lead();
      for (let looks = 1; looks <= 2; looks++) {
        await eventually(
          () => stage.server.asked("GET ").filter((path) => path.endsWith("/p")).length >= looks,
          "it is not looked at",
        );
        stage.clock.move(LOOK_MS);
      }
      assert.equal(stage.server.patches.length, 0);
    });
  }
});

describe("a version in shadow", () => {
  const begun = async (context: TestContext, annotations: Named = {}): Promise<Stage> => {
    const stage = await Stage.start(context);
    stage.write(2, "two", { ...SHADOW, "active-spec": ACTIVE, ...annotations });
    stage.counts("2.1.01234567", {});
    stage.serve();
    await settle();
    stage.lead();
    await stage.patched(1);
    return stage;
  };

  test("begins with a record, and is told to the others and to the status", async (context) => {
    const stage = await begun(context);
    const [active, record] = stage.notes();
    assert.deepEqual(active, { generation: 1, spec: { word: "one" } });
    const since = stage.clock.wall();
    assert.deepEqual(record, { version: "2.1.01234567", since, denied: 0, from: { "me-1": 0 } });
    assert.match(stage.announced.at(-1) ?? "", /"2\.1\.01234567":\[0,0,0,0,0,0\]/);
    assert.match(stage.shown[0] ?? "", /^generation 2 is in shadow since .*; generation 1 is in force\.\n/);
    assert.match(stage.shown[0] ?? "", /Promoted by hand only/);
  });

  test("is promoted by hand, when its own generation is named", async (context) => {
    const stage = await begun(context, { promote: "1" });
    assert.equal(stage.server.patches.length, 1);
    const { annotations } = stage.policy().metadata;
    stage.write(2, "two", { ...stripped(annotations), promote: "2" });
    stage.serve();
    await stage.patched(2);
    assert.deepEqual(stage.notes(), [{ generation: 2, spec: { word: "two" } }, undefined]);
    assert.equal(stage.part.rolledOut.get(KEY)?.rollout.shadow, undefined);
    assert.ok(stage.lines.some(({ message }) => message.startsWith("promoted")));
    assert.equal(stage.shown.at(-1), undefined);
  });

  test("is promoted after its time, and not before", async (context) => {
    const stage = await begun(context, { "promote-after": "1m" });
    for (let looks = 0; looks < 5; looks++) {
      stage.clock.move(LOOK_MS);
      await settle();
    }
    assert.equal(stage.server.patches.length, 1);
    stage.clock.move(LOOK_MS);
    await stage.patched(2);
    assert.deepEqual(stage.notes()[0], { generation: 2, spec: { word: "two" } });
  });

  test("is not promoted by a clock that goes wrong", async (context) => {
    const stage = await begun(context, { "promote-after": "30s" });
    const written = (time: number) => {
      const managedFields = [{ manager: "kubectl", time: new Date(time).toISOString() }];
      stage.write(2, "two", stripped(stage.policy().metadata.annotations), { managedFields });
      stage.serve();
    };
    written(stage.clock.wall() - 3_600_000);
    for (let looks = 0; looks < 6; looks++) {
      stage.clock.move(LOOK_MS);
      await settle();
    }
    assert.deepEqual(stage.notes()[0], { generation: 1, spec: { word: "one" } });
    const said = stage.lines.filter(({ level }) => level === "error");
    assert.match(String(said[0]?.fields.reason), /^the clock of this replica .* too far apart$/);
    written(stage.clock.wall());
    await eventually(() => {
      stage.clock.move(LOOK_MS);
      return JSON.stringify(stage.notes()[0]) === '{"generation":2,"spec":{"word":"two"}}';
    }, "it is not promoted");
  });

  for (const [what, counts, more] of [
    ["would have denied too much", { agreed: 9, wouldDeny: 1 }, {}],
    ["failed", { agreed: 9, failed: 1 }, {}],
    ["was hardly asked", { agreed: 1, notEvaluated: 5 }, {}],
    ["could not be loaded", {}, { isBroken: true }],
  ] as const) {
    test(`is not promoted by its time when it ${what}`, async (context) => {
      const stage = await begun(context, { "promote-after": "30s" });
      stage.counts("2.1.01234567", counts, more);
      for (let looks = 0; looks < 10; looks++) {
        stage.clock.move(LOOK_MS);
        await settle();
        stage.serve();
        await settle();
      }
      assert.deepEqual(stage.notes()[0], { generation: 1, spec: { word: "one" } });
    });
  }

  test("is not promoted by hand when it could not be loaded", async (context) => {
    const stage = await begun(context);
    const { annotations } = stage.policy().metadata;
    stage.counts("2.1.01234567", {}, { isBroken: true });
    stage.clock.move(LOOK_MS);
    await settle();
    stage.write(2, "two", { ...stripped(annotations), promote: "2" });
    stage.serve();
    await settle();
    assert.deepEqual(stage.notes()[0], { generation: 1, spec: { word: "one" } });
    await eventually(() => stage.shown.at(-1)?.includes("could not be loaded") === true, "the status does not say why");
  });

  test("is not promoted by hand before it is known to have been loaded", async (context) => {
    const stage = await begun(context);
    stage.isUnavailable = true;
    const { annotations } = stage.policy().metadata;
    stage.write(3, "three", { ...stripped(annotations), promote: "3" });
    stage.serve();
    await stage.patched(2);
    assert.deepEqual(stage.notes()[0], { generation: 1, spec: { word: "one" } });
    stage.isUnavailable = false;
    stage.counts("3.1.01234567", {});
    stage.clock.move(LOOK_MS);
    await stage.patched(3);
    assert.deepEqual(stage.notes()[0], { generation: 3, spec: { word: "three" } });
  });

  test("is not promoted by its time while processes do not tell what they have counted", async (context) => {
    const stage = await begun(context, { "promote-after": "30s" });
    stage.isUnavailable = true;
    for (let looks = 0; looks < 6; looks++) {
      stage.clock.move(LOOK_MS);
      await settle();
      stage.serve();
      await settle();
    }
    assert.deepEqual(stage.notes()[0], { generation: 1, spec: { word: "one" } });
    stage.isUnavailable = false;
    const isPromoted = () => JSON.stringify(stage.notes()[0]) === '{"generation":2,"spec":{"word":"two"}}';
    await eventually(() => {
      stage.clock.move(LOOK_MS);
      stage.serve();
      return isPromoted();
    }, "it is not promoted");
  });

  test("waits for replicas that do not tell of it", async (context) => {
    const stage = await begun(context, { "promote-after": "30s" });
    stage.live = [...stage.live.slice(0, 1), { name: "other", routes: new Set(), facts: {} }];
    for (let looks = 0; looks < 6; looks++) {
      stage.clock.move(LOOK_MS);
      await settle();
      stage.serve();
    }
    assert.deepEqual(stage.notes()[0], { generation: 1, spec: { word: "one" } });
    const other = { ...NONE, id: "p", version: "2.1.01234567", since: 0, examples: [], isBroken: false };
    const fact = factText({ instance: "other-1", lost: 0, isEnded: false, isStale: false }, [other]);
    stage.live = [...stage.live.slice(0, 1), { name: "other", routes: new Set(), facts: { shadow: fact } }];
    const isPromoted = () => JSON.stringify(stage.notes()[0]) === '{"generation":2,"spec":{"word":"two"}}';
    await eventually(() => {
      stage.clock.move(LOOK_MS);
      stage.serve();
      return isPromoted();
    }, "it is not promoted");
  });

  test("stays where it is when the API server refuses, which is said once", async (context) => {
    const stage = await Stage.start(context);
    let refused = 0;
    stage.server.beforeWrite = (_, response) => {
      refused += 1;
      response.writeHead(403, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message: "not you" }));
    };
    stage.write(2, "two", { ...SHADOW, "active-spec": ACTIVE });
    stage.serve();
    stage.lead();
    await eventually(() => {
      stage.clock.move(LOOK_MS);
      return refused >= 3;
    }, "it is not tried again");
    const said = stage.lines.filter(({ level }) => level === "error");
    assert.equal(said.length, 1);
    assert.match(String(said[0]?.fields.reason), /not you/);
  });

  test("says a last word of what was counted when the replica stops", async (context) => {
    const stage = await begun(context);
    stage.counts("2.1.01234567", { wouldDeny: 3 });
    const stopped = stage.part.stop();
    await settle();
    stage.clock.move(LAST_WORD_MS);
    await stopped;
    assert.match(stage.announced.at(-1) ?? "", /"ended":true.*\[0,3,0,0,0,0\]/);
    assert.equal(stage.clock.timers, 0);
  });

  test("says no last word when it does not know it", async (context) => {
    const stage = await begun(context);
    stage.isUnavailable = true;
    const stopped = stage.part.stop();
    await settle();
    stage.clock.move(LAST_WORD_MS);
    await stopped;
    assert.match(stage.announced.at(-1) ?? "", /"ended":false,"stale":true/);
  });
});

test("where nothing is rolled out nothing is done", async (context) => {
  const stage = await Stage.start(context);
  stage.write(1, "one", { promote: "1" });
  stage.serve();
  stage.lead();
  await settle();
  assert.deepEqual([stage.clock.timers, stage.announced, stage.server.requests], [0, [], []]);
});
