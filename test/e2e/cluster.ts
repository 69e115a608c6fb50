/** A real etcd, kube-apiserver and kube-controller-manager on loopback, and kubectl on them. Needs Go the first time. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/example-server.js";

/** First start: both are built from source. */
const UP_WITHIN_MS = 30 * 60_000;
/** With an etcd that has its objects already. */
const BACK_WITHIN_MS = 60_000;

/** What a command printed. */
export interface Printed {
  readonly code: number;
  /** Standard output and error, as a person sees them. */
  readonly text: string;
}

/** Another API server on the etcd of a cluster. */
export interface ApiServer {
  /** The administrator's, for this one. */
  readonly kubeconfig: string;
  /** Its audit log so far, a line each. */
  auditLog(): string[];
  /** SIGKILL. */
  stop(): Promise<void>;
}

/** A running cluster. */
export class Cluster {
  readonly #folder: string;
  /** Of the API server, once they were asked for. */
  #apiServer: readonly string[] | undefined;

  /** @param folder where up.sh stands and may write */
  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts a fresh one; `E2E_DIR` may name a folder that has the binaries already. */
  static async start(): Promise<Cluster> {
    const folder = process.env.E2E_DIR ?? fileURLToPath(new URL("../../../test/e2e", import.meta.url));
    const env = { ...process.env, E2E_AUDIT: "1", E2E_CONTROLLERS: "1" };
    const { code, text } = await run("./up.sh", [], { cwd: folder, env });
    if (code !== 0) throw new Error(`the cluster did not start:\n${text}`);
    return new Cluster(folder);
  }

  /** Runs kubectl with `input` on standard input. */
  kubectl(args: readonly string[], input = "", kubeconfig = this.kubeconfig): Promise<Printed> {
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    return run(ownKubectl(this.#folder) ?? "kubectl", args, { env }, input);
  }

  /** Shell code after which `kubectl` is the one for this cluster. */
  kubectlFunction(): string {
    return `export KUBECONFIG='${this.kubeconfig}'\nkubectl() { command '${ownKubectl(this.#folder) ?? "kubectl"}' "$@"; }`;
  }

  /** A kubeconfig of another account than the administrator, by impersonation; `kubeconfig` is the administrator's. */
  kubeconfigOf(account: string, folder: string, kubeconfig = this.kubeconfig): string {
    const file = `${folder}/${basename(kubeconfig)}`;
    const own = readFileSync(kubeconfig, "utf8");
    writeFileSync(file, own.replace(/user: \{token: ([^}]*)\}/, `user: {token: $1, as: "${account}"}`));
    return file;
  }

  /** The administrator's kubeconfig. */
  get kubeconfig(): string {
    return `${this.#folder}/run/kubeconfig`;
  }

  /** The audit log so far, a line each. */
  auditLog(): string[] {
    return linesOf(`${this.#folder}/run/audit.log`);
  }

  /** Starts another API server on the same etcd, with more arguments than the first one has, and waits until it is ready. */
  async another(name: string, ...more: readonly string[]): Promise<ApiServer> {
    const [program = "", ...args] = this.#asStarted();
    const at = `${this.#folder}/run/${name}`;
    const port = await freePort();
    const own = readFileSync(this.kubeconfig, "utf8");
    writeFileSync(`${at}.kubeconfig`, own.replace(/(server: "https:\/\/127\.0\.0\.1:)\d+/, `$1${port}`));
    const log = openSync(`${at}.log`, "a");
    const places = ["--secure-port", `${port}`, "--audit-log-path", `${at}-audit.log`];
    const child = spawn(program, [...args, ...places, ...more], { stdio: ["ignore", log, log] });
    const stop = async (): Promise<void> => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    };
    const isReady = async () => (await this.kubectl(["get", "--raw", "/readyz"], "", `${at}.kubeconfig`)).code === 0;
    const end = Date.now() + BACK_WITHIN_MS;
    while (!(await isReady())) {
      if (Date.now() > end || child.exitCode !== null) {
        await stop();
        throw new Error(`the API server ${name} did not become ready: ${linesOf(`${at}.log`).slice(-5).join("\n")}`);
      }
      await sleep(100);
    }
    return { kubeconfig: `${at}.kubeconfig`, auditLog: () => linesOf(`${at}-audit.log`), stop };
  }

  /** The API server's program and arguments as up.sh has chosen them. */
  #asStarted(): readonly string[] {
    const pid = readFileSync(`${this.#folder}/run/kube-apiserver.pid`, "utf8").trim();
    this.#apiServer ??= readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    return this.#apiServer;
  }

  /**
   * Kills the API server; its objects stay in etcd.
   * @returns starts it again on the same port, with its first arguments and these, and waits until it is ready
   */
  async stopApiServer(): Promise<(...more: readonly string[]) => Promise<void>> {
    const pidFile = `${this.#folder}/run/kube-apiserver.pid`;
    const pid = Number(readFileSync(pidFile, "utf8"));
    const [program = "", ...args] = this.#asStarted();
    process.kill(pid, "SIGKILL");
    while (runs(pid)) await sleep(20);
    return async (...more) => {
      const log = openSync(`${this.#folder}/run/kube-apiserver.log`, "a");
      const spawned = () => {
        const child = spawn(program, [...args, ...more], {
          cwd: this.#folder,
          detached: true,
          stdio: ["ignore", log, log],
        });
        child.unref();
        writeFileSync(pidFile, `${child.pid}\n`);
        return child;
      };
      let child = spawned();
      const end = Date.now() + BACK_WITHIN_MS;
      while ((await this.kubectl(["get", "--raw", "/readyz"])).code !== 0) {
        // The port of the one before is still taken.
        if (child.exitCode !== null) child = spawned();
        if (Date.now() > end) throw new Error("the API server did not come back");
        await sleep(100);
      }
    };
  }

  async stop(): Promise<void> {
    await run("./down.sh", [], { cwd: this.#folder });
  }
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
}

/** Whether a process or one of its threads still runs: until then it has its port. */
function runs(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return !/^State:\tZ/m.test(status) || !/^Threads:\t1$/m.test(status);
  } catch {
    return false;
  }
}

/** kubectl as built beside the server, if it was. */
function ownKubectl(folder: string): string | undefined {
  const version = /k8s\.io\/kubernetes (v[0-9.]+)/.exec(readFileSync(`${folder}/go.mod`, "utf8"))?.[1];
  const path = `${folder}/bin/${version}/kubectl`;
  return existsSync(path) ? path : undefined;
}

/** Runs a command; its two outputs are joined. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
  input = "",
): Promise<Printed> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"], timeout: UP_WITHIN_MS });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? -1, text: text.trimEnd() }));
    // Who ends without having read it all says why by its code.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** A certificate authority's worth of one self-signed certificate for loopback, by openssl. */
export async function makeCertificate(folder: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [`${folder}/tls.crt`, `${folder}/tls.key`];
  await new Promise<void>((resolve, reject) => {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const how = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    execFile("openssl", [...how, ...subject, "-keyout", key, "-out", cert], (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return { cert, key };
}
