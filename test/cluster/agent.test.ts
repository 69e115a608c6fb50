import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { describe, type TestContext, test } from "node:test";
import { Agent } from "../../src/cluster/agent.js";
import type { ClusterState } from "../../src/cluster/cluster-state.js";
import type { ClusterPart, PartContext } from "../../src/cluster/part.js";
import { shortHash } from "../../src/cluster/replicas/route-hash.js";
import type { ClusterSettings } from "../../src/cluster/settings.js";
import type { ClusterDelta, LoadedPolicyReport } from "../../src/config/from-cluster/cluster-document.js";
import { member } from "../../src/kubernetes/object.js";
import type { GaugeName } from "../../src/telemetry/gauges.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { connect, until } from "../kubernetes/client/support.js";
import { TestClock } from "../support/test-clock.js";
import { keptLog } from "./approver/support.js";
import { define, KUBEWARDEN, keyOfPolicy, NO_METRICS, POLICIES, policy, SETTINGS } from "./support.js";

/** A part that writes down what it is told. */
class Told implements ClusterPart {
  readonly states: ClusterState[] = [];
  readonly signals: AbortSignal[] = [];
  stopped = false;
  served(state: ClusterState): void {
    this.states.push(state);
  }
  lead(signal: AbortSignal): void {
    this.signals.push(signal);
  }
  async stop(): Promise<void> {
    this.stopped = true;
  }
}

/** What became of a policy: those whose name begins with `bad` are broken. */
function reportOf(key: string): LoadedPolicyReport {
  const name = key.split("/").at(-1) ?? "";
  const states = { bad: "unavailable", late: "waiting", taken: "refused" } as const;
  const state = Object.entries(states).find(([start]) => name.startsWith(start))?.[1] ?? "loaded";
  return { id: `clusterwide-${name}`, key, generation: 1, state, problems: [] };
}

function agentOf(
  context: TestContext,
  server: FakeApiServer,
  settings: Partial<ClusterSettings> = {},
  parts: readonly ClusterPart[] = [],
) {
  const clock = new TestClock();
  const { logger, lines } = keptLog();
  const deltas: ClusterDelta[] = [];
  const told = new Told();
  const gauges = new Map<GaugeName, () => number>();
  let partContext: PartContext | undefined;
  const agent = new Agent({
    cluster: connect(context, server).cluster,
    elections: connect(context, server).cluster,
    ...{ clock, random: () => 0, log: logger },
    metrics: { ...NO_METRICS, gauge: (name, read) => gauges.set(name, read) },
    settings: { ...SETTINGS, ...settings },
    serving: {
      evaluations: 0,
      serve: async (delta) => {
        deltas.push(delta);
        return delta.put.map(({ key }) => reportOf(key));
      },
    },
    parts: [
      (given) => {
        partContext = given;
        return [...parts, told];
      },
    ],
    setsOf: (_, refused) => [{ hash: "0123456789abcdef", members: [...refused] }],
  });
  context.after(() => agent.stop());
  const step = (what: string, holds: () => boolean) =>
    until(what, () => {
      clock.move(10);
      return holds();
    });
  return { agent, clock, lines, deltas, told, gauges, step, parts: () => partContext };
}

const leaseOf = (server: FakeApiServer, name: string) => server.object("leases", name, "policy-server");

describe("the agent", () => {
  test("is ready when all that the cluster holds is served, announces it, and takes part in the election then", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put(POLICIES, policy("a"));
    server.put(POLICIES, policy("bad"));
    const { agent, deltas, told, gauges, step, parts } = agentOf(context, server);
    assert.match(agent.unready ?? "", /^not read yet: clusteradmissionpolicies/);
    assert.equal(server.asked("POST").length, 0);
    await step("the state", () => told.states.length === 1);
    assert.equal(agent.unready, undefined);
    assert.deepEqual(deltas[0]?.put.map(({ key }) => key).sort(), [keyOfPolicy("a"), keyOfPolicy("bad")]);
    await step("the lead", () => told.signals.length === 1 && agent.leads);
    assert.equal(gauges.get("cluster_leader")?.(), 1);
    assert.equal(gauges.get("cluster_documents")?.(), 2);
    const facts = () => parts()?.replicas.live[0]?.facts ?? {};
    const paths = ["/validate/set/0123456789abcdef", "/validate/clusterwide-a", "/validate/clusterwide-bad"];
    assert.equal(facts().routes, paths.map(shortHash).sort().join(","));
    // What could not be loaded is answered, but not loaded.
    assert.equal(facts().loaded, shortHash(`${keyOfPolicy("a")}@uid-a@1`));
    await step("the Lease", () => leaseOf(server, "policy-server-replica-one")?.metadata.annotations !== undefined);
  });

  test("announces no path of a policy that waits for its module, or whose id another one has: no webhook asks there then", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    for (const name of ["a", "late", "taken"]) server.put(POLICIES, policy(name));
    const { agent, deltas, told, step, parts } = agentOf(context, server);
    await step("the state", () => told.states.length === 1);
    const routes = () => parts()?.replicas.live[0]?.facts.routes;
    const set = shortHash("/validate/set/0123456789abcdef");
    assert.equal(routes(), [shortHash("/validate/clusterwide-a"), set].sort().join(","));
    // Sets are made anew without it, and served.
    await step("the sets", () => told.states.length === 2);
    assert.deepEqual(deltas[1]?.sets, [{ hash: "0123456789abcdef", members: [keyOfPolicy("taken")] }]);
    agent.loaded([{ ...reportOf(keyOfPolicy("late")), state: "loaded" }]);
    assert.match(routes() ?? "", new RegExp(shortHash("/validate/clusterwide-late")));
  });

  test("tells others what hinders it, as long as anything does", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.forbidden.add("list admissionpolicies");
    const { clock, told, step, parts } = agentOf(context, server);
    await step("the state", () => told.states.length === 1);
    const said = () => parts()?.replicas.live[0]?.facts.hindered ?? "";
    assert.match(said(), /^cannot be read: admissionpolicies\.policies\.kubewarden\.io/);
    server.forbidden.clear();
    await until("nothing to be in the way", () => {
      clock.move(1000);
      return said() === "";
    });
  });

  test("is not ready, and leads nobody, while a kind of policies may not be read; what may be is served", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.forbidden.add("list admissionpolicies");
    server.put(POLICIES, policy("a"));
    const { agent, clock, deltas, told, gauges, step } = agentOf(context, server);
    await step("the state", () => told.states.length === 1);
    assert.equal(deltas[0]?.put.length, 1);
    assert.match(agent.unready ?? "", /^cannot be read: admissionpolicies\.policies\.kubewarden\.io: .*forbidden/);
    assert.deepEqual(told.states[0]?.unread, ["admissionpolicies.policies.kubewarden.io"]);
    assert.equal(gauges.get("cluster_sources_unread")?.(), 1);
    clock.move(5000);
    assert.equal(server.asked("POST").length, 0);
    server.forbidden.clear();
    await until("readiness", () => {
      clock.move(1000);
      return agent.unready === undefined;
    });
    // Once ready it stays so: it still serves what it has read.
    server.forbidden.add("list admissionpolicies");
    server.forbidden.add("watch admissionpolicies");
    server.cut();
    await step("more", () => server.asked("GET").length > 0);
    assert.equal(agent.unready, undefined);
  });

  test("is ready all the same where that is wanted", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.forbidden.add("list admissionpolicies");
    const { agent, told, step } = agentOf(context, server, { readyWithoutSources: true });
    await step("the state", () => told.states.length === 1);
    assert.equal(agent.unready, undefined);
  });

  test("has changes served, and only those; what is gone is forgotten", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    server.put(POLICIES, policy("a"));
    const { deltas, told, step, parts } = agentOf(context, server);
    await step("the state", () => told.states.length === 1 && server.watching > 5);
    server.put(POLICIES, policy("b"));
    await step("the change", () => deltas.length === 2);
    assert.deepEqual([deltas[1]?.base, deltas[1]?.put.length], [1, 1]);
    server.remove(POLICIES, "a");
    await step("the deletion", () => told.states.length === 3);
    assert.deepEqual(deltas[2]?.removed, [keyOfPolicy("a")]);
    assert.deepEqual(parts()?.facts.reports(keyOfPolicy("a")), []);
    assert.deepEqual([...(told.states[2]?.documents.keys() ?? [])], [keyOfPolicy("b")]);
  });

  test("says once that the API server is away, and when it is back", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    const { agent, clock, lines, told, step } = agentOf(context, server);
    await step("the state", () => told.states.length === 1);
    const own = "/apis/coordination.k8s.io/v1/namespaces/policy-server/leases/policy-server-replica-one";
    server.special.set(own, (request) => request.socket.destroy());
    const said = (text: string) => lines.filter(({ message }) => message.includes(text)).length;
    const attempts = () => server.asked(`PATCH ${own}`).length;
    for (let times = 0; times < 3; times++) {
      const before = attempts();
      await until("an attempt", () => {
        clock.move(500);
        return attempts() > before;
      });
      await until("it to be said", () => said("does not answer") > 0);
    }
    assert.equal(said("does not answer"), 1);
    assert.equal(agent.unready, undefined);
    server.special.clear();
    const before = attempts();
    await until("it to be back", () => {
      // An attempt must be answered within 5 s of this clock, which all but stands still meanwhile.
      clock.move(attempts() > before ? 1 : 500);
      return said("answers again") === 1;
    });
  });

  test("leads nobody before it has looked for other replicas", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    const leases = "/apis/coordination.k8s.io/v1/namespaces/policy-server/leases";
    const held: IncomingMessage[] = [];
    server.special.set(leases, (request) => void held.push(request));
    const { told, step } = agentOf(context, server);
    await step("the state", () => told.states.length === 1 && held.length > 0);
    await step("the Lease", () => leaseOf(server, "policy-server-replica-one") !== undefined);
    assert.deepEqual(server.asked(`GET ${leases}/policy-server-leader`), []);
    server.special.clear();
    for (const request of held) request.socket.destroy();
    await step("the lead", () => told.signals.length === 1);
  });

  test("what fails in one part is not the others'", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    const failing: ClusterPart = {
      served: () => {
        throw new Error("a part");
      },
      stop: async () => {},
    };
    const { told, lines, step } = agentOf(context, server, {}, [failing]);
    await step("the lead", () => told.states.length === 1 && told.signals.length === 1);
    assert.equal(lines.filter(({ level }) => level === "error").length, 1);
  });

  test("leads no more when it steps down, and leaves nothing behind when it stops", async (context) => {
    const server = await FakeApiServer.start(context);
    define(server, ...KUBEWARDEN);
    const { agent, told, step } = agentOf(context, server);
    await step(
      "the lead",
      () => told.signals.length === 1 && leaseOf(server, "policy-server-replica-one") !== undefined,
    );
    await agent.stepDown();
    assert.equal(told.signals[0]?.aborted, true);
    assert.equal(member(leaseOf(server, "policy-server-leader")?.spec, "holderIdentity"), "");
    // It is still a replica: it serves until it has drained.
    assert.notEqual(leaseOf(server, "policy-server-replica-one"), undefined);
    assert.equal(told.stopped, false);
    await agent.stop();
    assert.equal(leaseOf(server, "policy-server-replica-one"), undefined);
    assert.equal(told.stopped, true);
    await until("the watches to end", () => server.watching === 0);
  });
});
