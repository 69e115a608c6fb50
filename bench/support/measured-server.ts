/** Servers that are measured from outside, and the clients that do it: each pinned to a processor of its own where the system can. */
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Rounds, TargetRound } from "./alternating-client.js";
import type { Load } from "./load-client.js";

const SERVER_CORE = 0;
const CLIENT_CORE = 1;
/** A module of some MB is compiled before a server is ready. */
const READY_WITHIN_MS = 120_000;
/** What the system counts a process's time in (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;
const KIB_PER_MIB = 1024;
/** Characters of a server's output that are shown when it does not start. */
const SHOWN = 1000;
/** Fields of /proc/PID/stat behind the command's closing parenthesis: user and system time of all its threads. */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

/** Whether processes can be pinned; without it server and client share the processors, which must be said beside every figure. */
export const PINNED = ((): boolean => {
  try {
    execFileSync("taskset", ["-c", `${SERVER_CORE},${CLIENT_CORE}`, "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** @param output whether its output is read, or the file that gets what it complains about */
function spawnOn(core: number, command: readonly string[], cwd: string, output: "read" | number): ChildProcess {
  const [program = "", ...args] = [...(PINNED ? ["taskset", "-c", `${core}`] : []), ...command];
  // What a container has, and no more: each variable of this shell would be measured as if it were the server's own. With `NODE_EXTRA_CA_CERTS`, for one, Node 20
  // reads all root certificates at its start (20 to 100 ms, 3 MiB), and `NO_COLOR` is one of the flags of Kubewarden's server, which then refuses to start.
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: process.env.HOME };
  const stdio: StdioOptions = output === "read" ? ["ignore", "pipe", "inherit"] : ["ignore", "ignore", output];
  return spawn(program, args, { cwd, env, stdio });
}

/** A process and all that it has started. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return [pid, ...(children === "" ? [] : children.split(" ")).flatMap((child) => processesOf(Number(child)))];
}

/** What a server has used since its start, all of its processes together. */
export interface Usage {
  /** Seconds of processor time. */
  readonly cpu: number;
  /** Resident memory in MiB. */
  readonly memory: number;
}

/** How a server is started. */
export interface ServerCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly port: number;
  /** URL that answers 2xx once it serves. */
  readonly readiness: string;
}

/** A running server. */
export class MeasuredServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /**
   * Starts it and waits until it is ready. What it complains about goes into a file of its folder, its log nowhere.
   * @throws Error when it ends before, or takes too long
   */
  static async start({ command, cwd, port, readiness }: ServerCommand): Promise<MeasuredServer> {
    const output = join(cwd, `${port}.log`);
    const file = openSync(output, "w");
    const child = spawnOn(SERVER_CORE, command, cwd, file);
    closeSync(file);
    const end = performance.now() + READY_WITHIN_MS;
    while (performance.now() < end && child.exitCode === null && child.signalCode === null) {
      const answers = async (url: string): Promise<Response | undefined> => fetch(url).catch(() => undefined);
      // The port that is asked may open a little later than the one that tells.
      if ((await answers(readiness))?.ok && (await answers(`http://127.0.0.1:${port}/`)) !== undefined)
        return new MeasuredServer(child, port);
      await sleep(20);
    }
    child.kill("SIGKILL");
    throw new Error(`did not become ready: ${command.join(" ")}: ${readFileSync(output, "utf8").slice(-SHOWN)}`);
  }

  usage(): Usage {
    const [used, memory] = processesOf(this.#child.pid ?? 0).reduce(
      ([ticks, kib], pid) => {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        return [ticks + Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]), kib + Number(resident ?? 0)] as const;
      },
      [0, 0] as readonly [number, number],
    );
    return { cpu: used / TICKS_PER_SECOND, memory: memory / KIB_PER_MIB };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await gone;
  }
}

/** What clients ask. */
export interface Question {
  readonly port: number;
  readonly path: string;
  /** File of the body. */
  readonly body: string;
}

/**
 * Asks for so many seconds over so many connections.
 * @throws Error when an answer is none that was to be expected
 */
export function load({ port, path, body }: Question, connections: number, seconds: number): Promise<Load> {
  return runClient<Load>("load-client.js", [`${port}`, path, body, `${connections}`, `${seconds}`]);
}

/**
 * Asks several servers, which get the same body, in so many turns each.
 * @returns by question, all of its turns together
 * @throws Error when an answer is none that was to be expected
 */
export async function loadInTurns(
  questions: readonly Question[],
  connections: number,
  turns: number,
  milliseconds: number,
): Promise<readonly TargetRound[]> {
  const targets = questions.map(({ port, path }) => `${port}${path}`);
  const args = [questions[0]?.body ?? "", `${connections}`, "1", `${turns}`, `${milliseconds}`, ...targets];
  const [round = []] = await runClient<Rounds>("alternating-client.js", args);
  return round;
}

/** Runs a client, which prints what it saw. */
function runClient<T>(name: string, args: readonly string[]): Promise<T> {
  const client = fileURLToPath(new URL(name, import.meta.url));
  const child = spawnOn(CLIENT_CORE, [process.execPath, client, ...args], process.cwd(), "read");
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) =>
      code === 0 ? resolve(JSON.parse(text) as T) : reject(new Error(`the client of ${args.at(-1)} failed`)),
    );
  });
}
