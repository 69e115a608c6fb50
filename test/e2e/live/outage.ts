/** The API server goes away for ten seconds: replicas keep what they serve, stay ready, say so, and go on by themselves. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { configMap, validatingPolicy } from "./policies.js";
import type { Stage } from "./stage.js";

const AWAY_MS = 10_000;

export async function apiServerAway(stage: Stage): Promise<void> {
  await stage.kubectl(["create", "namespace", "outage"]);
  const server = await stage.replica("outage");
  await stage.apply(validatingPolicy("outage", "outage", "one"));
  await stage.active("vpol", "outage");
  const before = server.log().length;

  const start = await stage.cluster.stopApiServer();
  const end = Date.now() + AWAY_MS;
  for (; Date.now() < end; await sleep(250)) {
    const { ok } = await fetch(`${server.probes}/readiness`);
    assert.ok(ok, "a server that has its policies stays ready");
  }
  assert.match(server.log().slice(before), /API server|cluster/i, "the log says that it is away");
  await start();

  const create = ["create", "--dry-run=server", "-n", "outage", "-f", "-"];
  assert.match(await stage.refused(create, JSON.stringify(configMap("c", "one"))), /the key one is not allowed/);
  await stage.apply(validatingPolicy("outage", "outage", "two"));
  const took = await stage.active("vpol", "outage");
  await stage.refused(create, JSON.stringify(configMap("c", "two")));
  await stage.kubectl(create, JSON.stringify(configMap("c", "one")));
  console.log(`after ${AWAY_MS / 1_000} s without the API server a changed policy was active ${took} ms later`);
  await stage.kubectl(["delete", "vpol", "outage"]);
  assert.equal(await server.stop(), 0);
}
