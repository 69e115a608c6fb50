import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { PolicyFacts } from "../../../src/cluster/policy-facts.js";
import { BREAK_GLASS, BreakGlass, readBreakGlass } from "../../../src/cluster/webhooks/break-glass.js";
import type { BreakGlassSample } from "../../../src/telemetry/metrics.js";
import { FakeApiServer } from "../../kubernetes/client/fake-api-server.js";
import { connect, until } from "../../kubernetes/client/support.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog } from "../approver/support.js";
import { NO_METRICS, SETTINGS } from "../support.js";

const HOUR = 3_600_000;
const MADE = Date.parse("2026-11-29T03:00:00Z");
const at = (hours: number): string => new Date(MADE + hours * HOUR).toISOString();

/** The ConfigMap as the API server stores it. */
const configMap = (data: Record<string, unknown>, written = MADE) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: BREAK_GLASS,
    namespace: "policy-server",
    uid: "uid",
    creationTimestamp: "2026-11-29T03:00:00Z",
    managedFields: [{ manager: "kubectl-create", time: new Date(written).toISOString() }],
  },
  data,
});

describe("a ConfigMap for break-glass", () => {
  const by = "ann";
  const now = MADE + HOUR;
  test("is in force until its time, given as a duration from its creation or as a time", () => {
    for (const [expires, hours] of [
      ["2h", 2],
      ["1h30m", 1.5],
      ["24h", 24],
      ["86400s", 24],
      [at(5), 5],
      [at(24), 24],
      ["2026-11-29T06:00:00+01:00", 2],
      ["2026-11-29T05:00:00Z", 2],
    ] as const) {
      const glass = readBreakGlass(configMap({ expires, by, reason: "incident" }), now);
      assert.deepEqual(glass, { state: "in_force", by, reason: "incident", until: MADE + hours * HOUR }, expires);
    }
    assert.equal(readBreakGlass(configMap({ expires: ` 2h\n`, by }), now).state, "in_force");
  });

  test("is over at its time, and is no longer said", () => {
    assert.equal(readBreakGlass(configMap({ expires: "2h", by }), MADE + 2 * HOUR - 1).state, "in_force");
    assert.deepEqual(readBreakGlass(configMap({ expires: "2h", by }), MADE + 2 * HOUR), { state: "whole" });
    assert.deepEqual(readBreakGlass(undefined, now), { state: "whole" });
  });

  test("is refused, with what to write, where something is missing, wrong, over, or too far away", () => {
    for (const [data, why] of [
      [{}, /its key "by" takes a name$/],
      [{ expires: "2h" }, /its key "by" takes a name$/],
      [{ expires: "2h", by: "  " }, /its key "by" takes a name$/],
      [{ expires: "2h", by: 7 }, /its key "by" takes a name$/],
      [{ by }, /its key "expires" takes a duration .* 2h, or a time, such as 2026-11-29T05:00:00Z$/],
      [{ expires: "soon", by }, /has "soon", and takes a duration/],
      [{ expires: "2", by }, /has "2", and takes/],
      [{ expires: "2026-02-30T00:00:00Z", by }, /has "2026-02-30T00:00:00Z", and takes/],
      [{ expires: "2026-11-29", by }, /has "2026-11-29", and takes/],
      [
        { expires: "24h1s", by },
        /more than 24 hours after its creation at 2026-11-29T03:00:00Z: delete it, and create it anew/,
      ],
      [{ expires: "2000000h", by }, /more than 24 hours/],
      [{ expires: at(25), by }, /more than 24 hours/],
      [{ expires: "0", by }, /was over when it was written/],
      [{ expires: "-2h", by }, /was over/],
      [{ expires: at(-1), by }, /was over/],
    ] as const) {
      const glass = readBreakGlass(configMap(data), now);
      assert.equal(glass.state, "refused", JSON.stringify(data));
      assert.match(glass.state === "refused" ? glass.reason : "", why);
    }
  });

  test("of long ago is refused, however it is changed: it must be created anew", () => {
    const week = MADE + 7 * 24 * HOUR;
    for (const expires of ["2h", new Date(week + HOUR).toISOString()])
      assert.equal(readBreakGlass(configMap({ expires, by }, week), week).state, "refused", expires);
    assert.equal(readBreakGlass(configMap({ expires: "2h", by }), week).state, "whole");
  });

  test("has short texts in one line, whatever its author writes", () => {
    const glass = readBreakGlass(
      configMap({ expires: "2h", by: `a\n${"b".repeat(10_000)}\u202e`, reason: "\u0000" }),
      now,
    );
    assert.ok(glass.state === "in_force");
    assert.equal(glass.by.length, 100);
    assert.match(glass.by, /^a b+…$/);
    assert.equal(glass.reason, "\\u0000");
  });
});

/** A replica that follows it. */
async function followed(context: TestContext, prepare: (server: FakeApiServer) => void = () => {}) {
  const server = await FakeApiServer.start(context);
  prepare(server);
  const { cluster } = connect(context, server);
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  let ahead = MADE;
  let sample = (): BreakGlassSample | undefined => undefined;
  let changes = 0;
  const glass = new BreakGlass(
    {
      ...{ cluster, clock, log: logger, settings: SETTINGS, random: () => 0, facts: new PolicyFacts() },
      metrics: { ...NO_METRICS, breakGlass: (read) => (sample = read) },
      replicas: { live: [], changed: () => () => {}, announce: () => {}, serverWall: () => ahead + clock.now() },
      state: () => undefined,
      statusOf: () => undefined,
    },
    () => {
      changes += 1;
    },
  );
  context.after(() => glass.stop());
  const events = () =>
    server.requests.filter((path) => path.startsWith("POST /apis/events.k8s.io/v1/namespaces/policy-server/events"));
  return {
    ...{ server, clock, glass, lines, events, sample: () => sample(), changes: () => changes },
    skip: (ms: number) => (ahead += ms),
  };
}

describe("break-glass", () => {
  test("is known when its ConfigMap was looked for, begins and ends by its time, and is told in log, event and metric", async (context) => {
    const { server, clock, glass, lines, events, sample, changes } = await followed(context);
    assert.equal(glass.isKnown, false);
    await until("the first look", () => glass.isKnown);
    assert.deepEqual([glass.inForce, sample(), changes()], [undefined, undefined, 1]);
    glass.lead(new AbortController().signal);
    server.put("configmaps", configMap({ expires: "2h", by: "ann", reason: "incident" }));
    await until("it to begin", () => glass.inForce !== undefined);
    assert.equal(glass.inForce, "break-glass is in force until 2026-11-29T05:00:00Z, written by ann: incident");
    assert.deepEqual([sample(), changes()], [{ state: "in_force", by: "ann", why: "incident" }, 2]);
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields.written_with]),
      [["warn", "kubectl-create"]],
    );
    await until("the event", () => events().length === 1);
    for (let minutes = 0; minutes < 21; minutes++) clock.move(60_000);
    await until("reminders", () => lines.length === 3 && events().length === 3);
    clock.move(2 * HOUR - 21 * 60_000 - 1);
    assert.ok(glass.inForce !== undefined);
    clock.move(1);
    assert.deepEqual([glass.inForce, sample(), changes()], [undefined, undefined, 3]);
    assert.equal(lines.at(-1)?.level, "info");
  });

  test("ends with its ConfigMap, and when it is changed into something that is refused", async (context) => {
    const { server, glass, lines, sample } = await followed(context);
    server.put("configmaps", configMap({ expires: "2h", by: "ann" }));
    await until("it to begin", () => glass.inForce !== undefined);
    server.put("configmaps", configMap({ expires: "never", by: "ann" }));
    await until("its end", () => glass.inForce === undefined);
    assert.equal(sample()?.state, "refused");
    assert.match(JSON.stringify(lines.at(-1)), /has \\+"never/);
    server.put("configmaps", configMap({ expires: "3h", by: "ann" }));
    await until("it to begin again", () => glass.inForce !== undefined);
    server.remove("configmaps", BREAK_GLASS, "policy-server");
    await until("its end", () => glass.inForce === undefined);
    assert.equal(sample(), undefined);
  });

  test("is told anew when it is made longer, so that conditions do not name a time that no longer holds", async (context) => {
    const { server, glass, changes } = await followed(context);
    server.put("configmaps", configMap({ expires: "2h", by: "ann" }));
    await until("it to begin", () => glass.inForce !== undefined);
    const before = changes();
    server.put("configmaps", configMap({ expires: "3h", by: "ann" }));
    await until("the longer time", () => glass.inForce?.includes("06:00:00Z") === true);
    assert.equal(changes(), before + 1);
  });

  for (const way of ["leads", "waits"])
    test(`is in force though the clock of the replica is ahead, once the API server's is known: it ${way}`, async (context) => {
      const { server, clock, glass, skip } = await followed(context, () => {});
      skip(48 * HOUR);
      server.put("configmaps", configMap({ expires: "2h", by: "ann" }));
      await until(
        "it to be known",
        () => glass.isKnown && server.asked("GET /api/v1/namespaces/policy-server/configmaps").length > 1,
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(glass.inForce, undefined);
      skip(-48 * HOUR);
      if (way === "leads") glass.lead(new AbortController().signal);
      else clock.move(10_000);
      assert.ok(glass.inForce !== undefined);
    });

  test("is not available without the right to read ConfigMaps, which is said once", async (context) => {
    const { server, clock, glass, lines } = await followed(context, (server) =>
      server.forbidden.add("list configmaps"),
    );
    const asked = () => server.asked("GET /api/v1/namespaces/policy-server/configmaps").length;
    for (const times of [1, 2]) {
      await until("a refusal", () => asked() === times && clock.timers > 0);
      assert.equal(glass.isKnown, false, "an API server that has just started refuses, too");
      clock.move(2_000);
    }
    await until("it to be known", () => glass.isKnown);
    assert.equal(glass.inForce, undefined);
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [["warn", "break-glass is not available: ConfigMaps of the server's namespace cannot be read"]],
    );
  });

  test("is not known while the API server does not answer", async (context) => {
    const { glass } = await followed(context, (server) =>
      server.special.set("/api/v1/namespaces/policy-server/configmaps", (_, response) => response.destroy()),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(glass.isKnown, false);
  });
});
