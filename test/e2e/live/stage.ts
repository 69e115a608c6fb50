/** What scenes with policies from a cluster share: a real API server with our CRDs and rights, kubectl, and replicas of our server with those rights. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ExampleServer, startExample } from "../../support/example-server.js";
import type { Cluster } from "../cluster.js";
import { Balancer } from "./balancer.js";
import { policyServer } from "./policies.js";

/** The checkout. */
export const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** Whom the manifests give rights to. */
export const ACCOUNT = "system:serviceaccount:policy-server:policy-server";
/** How long anything may take that is not measured. */
const WITHIN_MS = 60_000;
const CRDS = `${ROOT}deploy/helm/policy-server/files/crds`;

/** A replica of our server. */
export interface Replica extends ExampleServer {
  readonly name: string;
  /** SIGKILL: as if the node had gone. */
  kill(): Promise<void>;
}

/** The stage of a scene. */
export class Stage {
  readonly cluster: Cluster;
  /** For files. */
  readonly folder: string;
  /** In front of the replicas, as a Service would be. */
  readonly balancer: Balancer;
  readonly replicas = new Map<string, Replica>();

  private constructor(cluster: Cluster, folder: string, balancer: Balancer) {
    this.cluster = cluster;
    this.folder = folder;
    this.balancer = balancer;
  }

  /** Installs what deploy/ installs, and the CRDs of others, which would be there. */
  static async set(cluster: Cluster, folder: string): Promise<Stage> {
    const stage = new Stage(cluster, folder, await Balancer.listen());
    writeFileSync(`${folder}/none.yaml`, "{}\n");
    await stage.kubectl(["apply", "--server-side", "--validate=strict", "-k", `${ROOT}deploy/manifests/from-cluster`]);
    for (const name of ["kyverno", "cert-manager"]) await stage.kubectl(["apply", "-k", `${CRDS}/${name}`]);
    await stage.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
    await stage.aggregate();
    await stage.apply(policyServer());
    return stage;
  }

  /** What the controller manager does, which isn't here: gathers the rules of aggregated roles. */
  async aggregate(): Promise<void> {
    const text = await this.kubectl([
      ...["get", "clusterroles", "-o", "json"],
      ...["-l", "policy-server.admission/aggregate-to-audit=true"],
    ]);
    const { items } = JSON.parse(text) as { items: { rules: object[] }[] };
    const patch = JSON.stringify({ rules: items.flatMap(({ rules }) => rules) });
    await this.kubectl(["patch", "clusterrole", "policy-server-audit", "--type=merge", "-p", patch]);
  }

  /** Runs kubectl, which must succeed. */
  async kubectl(args: readonly string[], input = ""): Promise<string> {
    const { code, text } = await this.cluster.kubectl(args, input);
    assert.equal(code, 0, `kubectl ${args.join(" ")}: ${text}`);
    return text;
  }

  /** Applies objects. */
  apply(...objects: readonly object[]): Promise<string> {
    return this.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  }

  /** Runs kubectl, which must fail. */
  async refused(args: readonly string[], input = ""): Promise<string> {
    const { code, text } = await this.cluster.kubectl(args, input);
    assert.notEqual(code, 0, `kubectl ${args.join(" ")} should have failed: ${text}`);
    return text;
  }

  /** An object, or undefined. */
  async get(kind: string, name: string, namespace = ""): Promise<Json | undefined> {
    const place = namespace === "" ? [] : ["-n", namespace];
    const { code, text } = await this.cluster.kubectl(["get", kind, name, ...place, "-o", "json"]);
    return code === 0 ? (JSON.parse(text) as Json) : undefined;
  }

  /** A replica with the rights of deploy/, which joins those behind the balancer. */
  async replica(name: string, ...more: string[]): Promise<Replica> {
    const server = await startExample(
      ...["--from-cluster", "--kubeconfig", this.cluster.kubeconfigOf(ACCOUNT, this.folder)],
      ...["--webhook-url", this.balancer.url, "--tls-secret", "policy-server-tls", "--replica-name", name],
      // The checkout has a policies.yaml of its own.
      ...["--policies", `${this.folder}/none.yaml`, "--policies-download-dir", this.folder],
      ...["--workers", "1", ...more],
    );
    const port = Number(new URL(server.url).port);
    const leave = this.balancer.add(port, server.probes);
    const gone = () => {
      leave();
      this.replicas.delete(name);
    };
    const replica: Replica = {
      ...server,
      name,
      log: () => server.log(),
      stop: async () => {
        const code = await server.stop();
        gone();
        return code;
      },
      kill: async () => {
        process.kill(server.pid, "SIGKILL");
        await server.exited;
        gone();
      },
    };
    this.replicas.set(name, replica);
    return replica;
  }

  /** Ends all replicas that are left, and the balancer. */
  async clear(): Promise<void> {
    for (const replica of [...this.replicas.values()]) await replica.stop();
    this.balancer.close();
  }

  /** Waits for something, and says how long it took in milliseconds. */
  async until(what: string, holds: () => Held | Promise<Held>, withinMs = WITHIN_MS): Promise<number> {
    const begin = Date.now();
    for (;;) {
      const held = await holds();
      if (held === true) break;
      if (Date.now() - begin > withinMs) {
        if (held !== false) console.log(held);
        assert.fail(`${what} did not come within ${withinMs / 1000} s`);
      }
      await sleep(50);
    }
    return Date.now() - begin;
  }

  /** Waits until a policy's status says that its newest version is in force. */
  active(kind: string, name: string, namespace = ""): Promise<number> {
    return this.until(`${kind} ${name} active`, async () => {
      const object = await this.get(kind, name, namespace);
      return isActive(object) || JSON.stringify(conditionsOf(object));
    });
  }
}

/** Whether something holds, or what is in the way. */
type Held = boolean | string;

/** Any JSON object, without questions. */
export interface Json {
  readonly [key: string]: Json;
}

/** A condition of a policy's status. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** The conditions of a policy, in Kubewarden's place or Kyverno's. */
export function conditionsOf(object: Json | undefined): readonly Condition[] {
  const found = object?.status?.conditions ?? object?.status?.conditionStatus?.conditions ?? [];
  return found as unknown as Condition[];
}

/** Whether the newest version is in force. */
export function isActive(object: Json | undefined): boolean {
  const generation = Number(object?.metadata?.generation ?? 0);
  const active = conditionsOf(object).find(({ type }) => type === "Active");
  return active?.status === "True" && (active.observedGeneration ?? generation) === generation;
}
