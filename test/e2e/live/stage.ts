/** What scenes with policies from a cluster share: a real API server with our CRDs and rights, kubectl, and replicas of our server with those rights. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type ExampleServer, type Executable, freePort, startExecutable } from "../../support/example-server.js";
import type { Cluster } from "../cluster.js";
import { Balancer } from "./balancer.js";
import { policyServer } from "./policies.js";

/** The checkout. */
export const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** Whom the manifests give rights to. */
export const ACCOUNT = "system:serviceaccount:policy-server:policy-server";
/** How long anything may take that is not measured. */
const WITHIN_MS = 60_000;
/** How long is waited without our server for what must not come. */
const IN_VAIN_MS = 2_000;
const OUR_SERVER: Executable = { node: ["dist/server/main.js"] };
const STAND_IN: Executable = { node: ["dist/test/e2e/live/stand-in.js"] };
/** How a denial begins that one of our webhooks has made: the API server itself refuses in other words. */
const BY_US = /admission webhook "[^"]+" denied the request: /;
/** What kubectl says where something is not there that our server would have written. */
const ABSENT = /\(NotFound\)|timed out waiting for the condition/;
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
  /** Whether something else stands in our server's place, so that every claim must fail. */
  readonly withoutServer: boolean;
  /** What was claimed since the last {@link clean}; `holds` says whether it held. */
  readonly claims: { readonly what: string; readonly holds: boolean }[] = [];

  private constructor(cluster: Cluster, folder: string, balancer: Balancer, withoutServer: boolean) {
    this.cluster = cluster;
    this.folder = folder;
    this.balancer = balancer;
    this.withoutServer = withoutServer;
  }

  /** Installs what deploy/ installs, and the CRDs of others, which would be there. */
  static async set(cluster: Cluster, folder: string, { withoutServer = false } = {}): Promise<Stage> {
    const stage = new Stage(cluster, folder, await Balancer.listen(), withoutServer);
    writeFileSync(`${folder}/none.yaml`, "{}\n");
    await stage.kubectl(["apply", "--server-side", "--validate=strict", "-k", `${ROOT}deploy/manifests/from-cluster`]);
    for (const name of ["kyverno", "cert-manager"]) await stage.kubectl(["apply", "-k", `${CRDS}/${name}`]);
    await stage.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
    if (withoutServer) await stage.#loosen();
    // Kubernetes gathers them from other roles.
    const rules = ["--for=jsonpath={.rules[0].verbs}", "clusterrole/policy-server-audit", "--timeout=60s"];
    await stage.kubectl(["wait", ...rules]);
    await stage.apply(policyServer());
    return stage;
  }

  /** Our definitions are a part of the product: without it they take everything and fill in nothing. */
  async #loosen(): Promise<void> {
    const { items } = JSON.parse(await this.kubectl(["get", "crds", "-o", "json"])) as {
      items: { metadata: { name: string }; spec: { versions: readonly object[] } }[];
    };
    for (const { metadata, spec } of items) {
      const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
      const versions = spec.versions.map((version) => ({ ...version, schema }));
      const patch = JSON.stringify({ spec: { versions } });
      await this.kubectl(["patch", "crd", metadata.name, "--type=merge", "-p", patch]);
    }
  }

  /**
   * Something that only our server makes true. Where something else stands in its place the claim must fail, by an assertion: one that holds is noted, and the
   * scene goes on.
   * @param holds asserts it; what it returns is said behind `what`
   */
  async claim(what: string, holds: () => Promise<unknown>): Promise<void> {
    try {
      const more = await holds();
      this.claims.push({ what, holds: true });
      console.log(
        `${this.withoutServer ? "HOLDS WITHOUT OUR SERVER: " : ""}${what}${typeof more === "string" ? ` ${more}` : ""}`,
      );
    } catch (error) {
      if (!this.withoutServer || !(error instanceof assert.AssertionError)) {
        console.error(`this does not hold: ${what}`);
        throw error;
      }
      this.claims.push({ what, holds: false });
      const [reason = ""] = error.message.split("\n");
      console.log(`does not hold, as it should be: ${what} (${reason.slice(0, 120)})`);
    }
  }

  /** Runs kubectl, which must succeed. */
  async kubectl(args: readonly string[], input = ""): Promise<string> {
    const { code, text } = await this.cluster.kubectl(args, input);
    if (code === 0) return text;
    const said = `kubectl ${args.join(" ")}: ${text}`;
    // Anything else is a mistake of the scene, and none of our server.
    if (BY_US.test(text) || ABSENT.test(text)) assert.fail(said);
    throw new Error(said);
  }

  /** Applies objects. */
  apply(...objects: readonly object[]): Promise<string> {
    return this.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  }

  /** Runs kubectl, which must fail with these words: by default those of a denial by our server. */
  async refused(args: readonly string[], input = "", said = BY_US): Promise<string> {
    const { code, text } = await this.cluster.kubectl(args, input);
    assert.notEqual(code, 0, `kubectl ${args.join(" ")} should have failed: ${text}`);
    assert.match(text, said);
    return text;
  }

  /** Whether our server denies what kubectl asks for; else what kubectl printed. */
  async denies(args: readonly string[], input: string): Promise<Held> {
    const { text } = await this.cluster.kubectl(args, input);
    return BY_US.test(text) || text;
  }

  /** An object, or undefined. */
  async get(kind: string, name: string, namespace = ""): Promise<Json | undefined> {
    const place = namespace === "" ? [] : ["-n", namespace];
    const { code, text } = await this.cluster.kubectl(["get", kind, name, ...place, "-o", "json"]);
    return code === 0 ? (JSON.parse(text) as Json) : undefined;
  }

  /** Starts our server, or what stands in its place, with these arguments. */
  serve(...args: string[]): Promise<ExampleServer> {
    return startExecutable(this.#program, ...args);
  }

  get #program(): Executable {
    return this.withoutServer ? STAND_IN : OUR_SERVER;
  }

  /** A replica with the rights of deploy/, which joins those behind the balancer. */
  async replica(name: string, ...more: string[]): Promise<Replica> {
    const server = await this.serve(...this.#arguments(name), ...more);
    const port = Number(new URL(server.url).port);
    const leave = this.balancer.add(port, server.probes);
    const gone = (killed = false) => {
      leave(killed);
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
        gone(true);
      },
    };
    this.replicas.set(name, replica);
    return replica;
  }

  /** A replica that can't be ready: waits until it has said why, and ends it. */
  async unready(name: string, said: RegExp): Promise<void> {
    const [port, probes] = [await freePort(), await freePort()];
    const at = ["--addr", "127.0.0.1", "--port", `${port}`, "--readiness-probe-port", `${probes}`];
    const child = spawn(process.execPath, [...this.#program.node, ...at, ...this.#arguments(name)], { cwd: ROOT });
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += String(chunk)));
    try {
      await this.until(`a word that matches ${said}`, async () => {
        const answer = await fetch(`http://127.0.0.1:${probes}/readiness`).catch(() => undefined);
        assert.notEqual(answer?.status, 200, "it is not ready");
        return said.test(`${log}${await answer?.text()}`) || log.slice(-1_000);
      });
    } finally {
      child.kill("SIGKILL");
    }
  }

  #arguments(name: string): string[] {
    return [
      ...["--from-cluster", "--kubeconfig", this.cluster.kubeconfigOf(ACCOUNT, this.folder)],
      ...["--webhook-url", this.balancer.url, "--tls-secret", "policy-server-tls", "--replica-name", name],
      // The checkout has a policies.yaml of its own.
      ...["--policies", `${this.folder}/none.yaml`, "--policies-download-dir", this.folder],
      ...["--workers", "1"],
    ];
  }

  /** Takes away what a scene has left: its replicas, whoever they were, its policies and their webhooks. */
  async clean(): Promise<void> {
    for (const replica of [...this.replicas.values()]) await replica.kill();
    const ours = ["-l", "app.kubernetes.io/managed-by=policy-server"];
    await this.kubectl(["delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations", ...ours]);
    await this.kubectl(["delete", "leases", "-n", "policy-server", "--all"]);
    await this.kubectl(["delete", "vpol,cap,capg,crp", "--all"]);
    await this.kubectl(["delete", "nvpol,ap,apg,polex", "--all", "-A"]);
    this.claims.length = 0;
  }

  /** Ends all replicas that are left, and the balancer. */
  async clear(): Promise<void> {
    for (const replica of [...this.replicas.values()]) await replica.stop();
    this.balancer.close();
  }

  /** Waits for something, and says how long it took in milliseconds. */
  async until(what: string, holds: () => Held | Promise<Held>, withinMs = WITHIN_MS): Promise<number> {
    const begin = Date.now();
    const limitMs = this.withoutServer ? IN_VAIN_MS : withinMs;
    for (;;) {
      const held = await holds();
      if (held === true) break;
      if (Date.now() - begin > limitMs) {
        if (held !== false) console.log(held);
        assert.fail(`${what} did not come within ${limitMs / 1000} s`);
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
