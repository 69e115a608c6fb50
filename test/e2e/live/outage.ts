/** The API server goes away for ten seconds: replicas keep what they serve, stay ready, say so, and go on by themselves. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { configMap, validatingPolicy } from "./policies.js";
import type { Stage } from "./stage.js";

const AWAY_MS = 10_000;

export async function apiServerAway(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "outage"]);
  const server = await stage.replica("outage");
  const create = ["create", "--dry-run=server", "-n", "outage", "-f", "-"];
  const [one, two] = [JSON.stringify(configMap("c", "one")), JSON.stringify(configMap("c", "two"))];
  await stage.apply(validatingPolicy("outage", "outage", "one"));
  await stage.claim("a policy is in force", () => stage.active("vpol", "outage"));
  const before = server.log().length;

  const start = await stage.cluster.stopApiServer();
  await stage.claim(
    `a server with its policies stays ready ${AWAY_MS / 1_000} s without the API server, and says that it is away`,
    async () => {
      const end = Date.now() + AWAY_MS;
      for (; Date.now() < end; await sleep(250)) {
        const { ok } = await fetch(`${server.probes}/readiness`);
        assert.ok(ok, "it is ready");
      }
      assert.match(server.log().slice(before), /API server|cluster/i);
    },
  );
  await start();

  await stage.claim("what was in force is when the API server is back", async () => {
    assert.match(await stage.refused(create, one), /the key one is not allowed/);
  });
  await stage.apply(validatingPolicy("outage", "outage", "two"));
  await stage.claim("a policy that changes then is active after", async () => {
    const took = await stage.active("vpol", "outage");
    assert.match(await stage.refused(create, two), /the key two is not allowed/);
    await stage.kubectl(create, one);
    return `${took} ms`;
  });
  await stage.kubectl(["delete", "vpol", "outage"]);
  assert.equal(await server.stop(), 0);
}
