/** A real etcd and kube-apiserver on loopback, and kubectl on them. Needs Go the first time. */
import { execFile, spawn } from "node:child_process";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

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

/** A running cluster. */
export class Cluster {
  readonly #folder: string;
  /** The API server's program and arguments as up.sh has chosen them, once it was stopped. */
  #apiServer: readonly string[] | undefined;

  /** @param folder where up.sh stands and may write */
  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts a fresh one; `E2E_DIR` may name a folder that has the binaries already. */
  static async start(): Promise<Cluster> {
    const folder = process.env.E2E_DIR ?? fileURLToPath(new URL("../../../test/e2e", import.meta.url));
    const { code, text } = await run("./up.sh", [], { cwd: folder, env: { ...process.env, E2E_AUDIT: "1" } });
    if (code !== 0) throw new Error(`the cluster did not start:\n${text}`);
    return new Cluster(folder);
  }

  /** Runs kubectl with `input` on standard input. */
  kubectl(args: readonly string[], input = ""): Promise<Printed> {
    return run(
      ownKubectl(this.#folder) ?? "kubectl",
      args,
      { env: { ...process.env, KUBECONFIG: this.kubeconfig } },
      input,
    );
  }

  /** Shell code after which `kubectl` is the one for this cluster. */
  kubectlFunction(): string {
    return `export KUBECONFIG='${this.kubeconfig}'\nkubectl() { command '${ownKubectl(this.#folder) ?? "kubectl"}' "$@"; }`;
  }

  /** A kubeconfig of somebody else than the administrator, by impersonation. */
  kubeconfigOf(account: string, folder: string): string {
    const file = `${folder}/kubeconfig`;
    const own = readFileSync(this.kubeconfig, "utf8");
    writeFileSync(file, own.replace(/user: \{token: ([^}]*)\}/, `user: {token: $1, as: "${account}"}`));
    return file;
  }

  /** The administrator's kubeconfig. */
  get kubeconfig(): string {
    return `${this.#folder}/run/kubeconfig`;
  }

  /** The audit log so far, a line each. */
  auditLog(): string[] {
    const file = `${this.#folder}/run/audit.log`;
    return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  }

  /**
   * Kills the API server; its objects stay in etcd.
   * @returns starts it again on the same port, with its first arguments and these, and waits until it is ready
   */
  async stopApiServer(): Promise<(...more: readonly string[]) => Promise<void>> {
    const pidFile = `${this.#folder}/run/kube-apiserver.pid`;
    const pid = Number(readFileSync(pidFile, "utf8"));
    this.#apiServer ??= readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    const [program = "", ...args] = this.#apiServer;
    process.kill(pid, "SIGKILL");
    while (runs(pid)) await sleep(20);
    return async (...more) => {
      const log = openSync(`${this.#folder}/run/kube-apiserver.log`, "a");
      const child = spawn(program, [...args, ...more], {
        cwd: this.#folder,
        detached: true,
        stdio: ["ignore", log, log],
      });
      child.unref();
      writeFileSync(pidFile, `${child.pid}\n`);
      const end = Date.now() + BACK_WITHIN_MS;
      while ((await this.kubectl(["get", "--raw", "/readyz"])).code !== 0) {
        if (Date.now() > end) throw new Error("the API server did not come back");
        await sleep(100);
      }
    };
  }

  async stop(): Promise<void> {
    await run("./down.sh", [], { cwd: this.#folder });
  }
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
