import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** How long a server may take to become ready. */
const READY_WITHIN_MS = 60_000;
/** How long a line of the log may take. */
const SAID_WITHIN_MS = 60_000;
/** Ports are looked for before the server takes them, so they may be gone by then. */
const PORT_TRIES = 3;
/** Ports below those that the system hands out by itself, to clients and to servers that ask for any: only another search of a test can take one meanwhile. */
const [FIRST_PORT, PORTS] = [15_000, 17_000];

/** A server started as a user starts it, on loopback. */
export interface ExampleServer {
  readonly url: string;
  readonly probes: string;
  readonly pid: number;
  /** What has come of its log so far: lines are written in batches, so that one may come after the answer it belongs to. */
  log(): string;
  /** Waits until its log has something, and gives what of it was found. */
  said(pattern: RegExp | string): Promise<readonly string[]>;
  /** Its exit code. */
  readonly exited: Promise<number | null>;
  /** SIGTERM, then its exit code. */
  stop(): Promise<number | null>;
}

/** How the executable is run. */
export interface Executable {
  /** Arguments of node: its options, and the executable. */
  readonly node: readonly string[];
  /** Beside the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
}

const SHIPPED: Executable = { node: ["dist/server/main.js"] };

/** Starts `policy-server` from this checkout on free ports and waits until it is ready. */
export function startExample(...args: string[]): Promise<ExampleServer> {
  return start(SHIPPED, args, PORT_TRIES);
}

/** As {@link startExample}, run in another way. */
export function startExecutable(executable: Executable, ...args: string[]): Promise<ExampleServer> {
  return start(executable, args, PORT_TRIES);
}

async function start(executable: Executable, args: readonly string[], tries: number): Promise<ExampleServer> {
  const [port, readiness] = [await freePort(), await freePort()];
  const child = spawn(
    process.execPath,
    [...executable.node, "--addr", "127.0.0.1", "--port", `${port}`, "--readiness-probe-port", `${readiness}`, ...args],
    { cwd: root, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...executable.env } },
  );
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += String(chunk)));
  let isGone = false;
  // Its output has come as well then.
  const exited = (once(child, "close") as Promise<[number | null]>).then(([code]) => {
    isGone = true;
    return code;
  });
  const probes = `http://127.0.0.1:${readiness}`;
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await isReady(probes))) {
    // Another test may have got the port meanwhile, or both ports may be the same.
    if (isGone && log.includes("EADDRINUSE") && tries > 1) return start(executable, args, tries - 1);
    if (isGone || Date.now() > deadline) {
      child.kill("SIGKILL");
      const end = isGone ? `ended with ${child.exitCode ?? child.signalCode}` : "runs";
      throw new Error(`the server did not become ready, it ${end}:\n${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url: `http://127.0.0.1:${port}`,
    probes,
    pid: child.pid ?? 0,
    log: () => log,
    said: async (pattern) => {
      const end = Date.now() + SAID_WITHIN_MS;
      for (;;) {
        const found = typeof pattern === "string" ? log.includes(pattern) && [pattern] : pattern.exec(log);
        if (found) return found;
        if (Date.now() > end) {
          child.kill("SIGKILL");
          throw new Error(`${pattern} was not logged:\n${log}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    exited,
    stop: async () => {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

async function isReady(probes: string): Promise<boolean> {
  return fetch(`${probes}/readiness`).then(
    (response) => response.ok,
    () => false,
  );
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const server = createServer();
    server.listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
