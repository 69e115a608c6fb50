/** A server started as a user starts it, under conditions that a user would rather not have. Loopback only. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/example-server.js";

const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
/** How long a server may take to become ready on a busy machine. */
const READY_WITHIN_MS = 60_000;
/** Characters of the log that are kept: scenarios look for rare lines, and decisions are logged too. */
const LOG_CHARACTERS = 64 * 1024 * 1024;

/** Conditions of a start. */
export interface ServerOptions {
  readonly args: readonly string[];
  /** Arguments of node itself; serving processes have the same. */
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** `ulimit -n`. */
  readonly openFiles?: number;
  /** Where its output goes: it is read (the default), nobody reads it, or a file, such as `/dev/full`. */
  readonly output?: "read" | "unread" | { readonly file: string };
  /** Whether the API port speaks TLS. */
  readonly tls?: boolean;
}

/** The running server, a group of processes of its own. */
export class ServerUnderTest {
  readonly url: string;
  readonly probes: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #log = "";

  private constructor(child: ChildProcess, url: string, probes: string) {
    this.#child = child;
    this.url = url;
    this.probes = probes;
    this.pid = child.pid ?? 0;
    this.#exited = (once(child, "exit") as Promise<[number | null]>).then(([code]) => code);
  }

  /**
   * Starts it and waits until it is ready.
   * @throws Error when it ends before, or takes too long
   */
  static async start({ args, nodeArgs = [], env, openFiles, output = "read", tls }: ServerOptions) {
    const [port, readiness] = [await freePort(), await freePort()];
    const listening = ["--addr", "127.0.0.1", "--port", `${port}`, "--readiness-probe-port", `${readiness}`];
    const command = [process.execPath, ...nodeArgs, "dist/server/main.js", ...listening, ...args];
    const limited =
      openFiles === undefined ? command : ["sh", "-c", `ulimit -n ${openFiles} && exec "$0" "$@"`, ...command];
    const target = typeof output === "object" ? openSync(output.file, "w") : "pipe";
    const [program = "", ...rest] = limited;
    const child = spawn(program, rest, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", target, target],
      detached: true,
    });
    const self = new ServerUnderTest(
      child,
      `${tls ? "https" : "http"}://${tls ? "localhost" : "127.0.0.1"}:${port}`,
      `http://127.0.0.1:${readiness}`,
    );
    if (output === "read") for (const stream of [child.stdout, child.stderr]) stream?.on("data", self.#keep);
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await self.ready())) {
      if (child.exitCode === null && child.signalCode === null && performance.now() < deadline) await sleep(50);
      else {
        self.kill();
        throw new Error(`the server did not become ready: ${self.#log.slice(-2000)}`);
      }
    }
    return self;
  }

  /** Whether the readiness probe says so. */
  async ready(): Promise<boolean> {
    return fetch(`${this.probes}/readiness`, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.ok,
      () => false,
    );
  }

  /** The metrics as text; undefined while they can't be had. */
  async metrics(): Promise<string | undefined> {
    return fetch(`${this.probes}/metrics`, { signal: AbortSignal.timeout(20_000) }).then(
      async (response) => (response.status === 200 ? await response.text() : undefined),
      () => undefined,
    );
  }

  /** Lines of the log with this message. */
  logged(message: string): number {
    return this.#log.split(message).length - 1;
  }

  /** The last lines of the log that are no decisions. */
  lastLines(count: number): string[] {
    return this.#log
      .split("\n")
      .filter((line) => line !== "" && !line.includes('"policy_id"'))
      .slice(-count);
  }

  /** The processes that answer requests. */
  workers(): number[] {
    return childrenOf(this.pid);
  }

  /** A signal to the whole group of processes. */
  signalAll(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  /** Connections to the API port that a process has accepted. */
  connectionsOf(pid: number): number {
    const port = Number(new URL(this.url).port).toString(16).toUpperCase().padStart(4, "0");
    const established = new Set<string>();
    for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(`:${port}`) && fields[3] === "01") established.add(`socket:[${fields[9]}]`);
    }
    return filesOf(pid).filter((file) => established.has(file)).length;
  }

  /** Asks it to stop. Resolves with its exit code, or undefined when it is not gone within so many milliseconds. */
  async stop(within: number): Promise<number | null | undefined> {
    this.#child.kill("SIGTERM");
    return Promise.race([this.#exited, sleep(within, undefined, { ref: false })]);
  }

  /** Whether it has ended. */
  get ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Kills whatever is left of its processes. */
  kill(): void {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // None is left.
    }
  }

  readonly #keep = (chunk: Buffer): void => {
    if (this.#log.length < LOG_CHARACTERS) this.#log += String(chunk);
  };
}

function childrenOf(pid: number): number[] {
  let text = "";
  try {
    text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  } catch {
    // It has ended.
  }
  return text === "" ? [] : text.split(" ").map(Number);
}

function filesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}

/** The sum of a metric's values over all of its labels; of a histogram name `…_count`. */
export function sumOf(metrics: string, name: string): number {
  let sum = 0;
  for (const line of metrics.split("\n")) {
    if (line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return sum;
}
