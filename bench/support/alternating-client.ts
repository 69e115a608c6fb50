/**
 * A client that asks servers in turns, as a process of its own: `node alternating-client.js <body file> <connections> <rounds> <turns> <milliseconds> <target>...`, a target being
 * a port of loopback with a path, and behind an @ the process whose processor time is read, if it is. Each turn keeps all connections of one target busy for some hundred milliseconds, and the next target's
 * turn follows at once: a slow moment of the machine strikes all of them. A round has so many turns of each target, every other time in reverse order, which are counted together. Connections stay open. It stops by
 * itself, and prints one line of JSON: {@link Rounds}.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { answerSize, requestOf } from "./answer-size.js";
import type { Load } from "./load-client.js";

/** By round and by target, what was seen. */
export type Rounds = readonly (readonly TargetRound[])[];

/** One target's round. */
export interface TargetRound extends Load {
  /** Processor time of the server, in hundredths of seconds; NaN, which JSON has as null, where it can't be had. */
  readonly ticks: number | null;
}

/** Milliseconds after which an answer that is still missing is not waited for any longer. */
const GIVE_UP_MS = 30_000;

const ALLOWED = '"allowed":true';

const [file = "", connections = "16", rounds = "40", turns = "1", milliseconds = "250", ...targets] =
  process.argv.slice(2);
const body = readFileSync(file);

/** What a target's connections saw in a round. */
interface Seen {
  readonly latencies: number[];
  allowed: number;
}

/** Keeps one request at a time under way, while it is told to. */
class Connection {
  readonly #socket: Socket;
  readonly #request: Buffer;
  readonly #path: string;
  /** Nearly always empty: an answer comes whole. */
  #before: Buffer | undefined;
  #end = 0;
  #sent = 0;
  #seen: Seen = { latencies: [], allowed: 0 };
  #done: (() => void) | undefined;

  constructor(port: number, path: string) {
    this.#request = requestOf(path, body);
    this.#path = path;
    this.#socket = connect(port, "127.0.0.1").setNoDelay(true);
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("close", () => {
      if (this.#done !== undefined) throw new Error(`${path}: closed early`);
    });
  }

  /** Asks until then. @returns when the last answer is there */
  run(end: number, seen: Seen): Promise<void> {
    this.#end = end;
    this.#seen = seen;
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#send();
    });
  }

  #send(): void {
    this.#sent = performance.now();
    this.#socket.write(this.#request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const received = this.#before === undefined ? chunk : Buffer.concat([this.#before, chunk]);
    const size = answerSize(received, this.#path);
    const isWhole = size !== undefined && received.length >= size;
    this.#before = isWhole ? undefined : received;
    if (!isWhole) return;
    const now = performance.now();
    this.#seen.latencies.push(now - this.#sent);
    if (received.includes(ALLOWED)) this.#seen.allowed++;
    if (now < this.#end) {
      this.#send();
      return;
    }
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }
}

/** Processor time of a process, in hundredths of seconds. */
function ticksOf(pid: string): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return Number.NaN;
  }
}

class Target {
  readonly #connections: readonly Connection[];
  readonly #pid: string;
  #seen: Seen = { latencies: [], allowed: 0 };
  #milliseconds = 0;
  #ticks = 0;
  /** Microseconds of this process. */
  #client = 0;

  /** @param target `<port><path>` or `<port><path>@<process>` */
  constructor(target: string) {
    const [, port = "", path = "", pid = ""] = /^(\d+)(\/[^@]*)(?:@(\d+))?$/.exec(target) ?? [];
    this.#connections = Array.from({ length: Number(connections) }, () => new Connection(Number(port), path));
    this.#pid = pid;
  }

  async turn(): Promise<void> {
    const before = ticksOf(this.#pid);
    const own = process.cpuUsage();
    const started = performance.now();
    const end = started + Number(milliseconds);
    await Promise.all(this.#connections.map((each) => each.run(end, this.#seen)));
    this.#milliseconds += performance.now() - started;
    const { user, system } = process.cpuUsage(own);
    this.#client += user + system;
    this.#ticks += ticksOf(this.#pid) - before;
  }

  /** What its turns were since the last round. */
  round(): TargetRound {
    const { latencies, allowed } = this.#seen;
    const [seconds, ticks, clientCpu] = [
      this.#milliseconds / 1000,
      this.#ticks,
      this.#client / this.#milliseconds / 1000,
    ];
    [this.#seen, this.#milliseconds, this.#ticks, this.#client] = [{ latencies: [], allowed: 0 }, 0, 0, 0];
    const requests = latencies.length;
    latencies.sort((a, b) => a - b);
    const percentile = (p: number): number => latencies[Math.min(requests - 1, Math.floor((requests * p) / 100))] ?? 0;
    return {
      ...{ requests, allowed, seconds, perSecond: requests / seconds, ticks },
      ...{ p50: percentile(50), p99: percentile(99), clientCpu },
    };
  }

  close(): void {
    for (const each of this.#connections) each.close();
  }
}

setTimeout(
  () => {
    throw new Error(`no answer for ${GIVE_UP_MS / 1000} s`);
  },
  targets.length * Number(rounds) * Number(turns) * Number(milliseconds) * 1.5 + GIVE_UP_MS,
).unref();
const asked = targets.map((target) => new Target(target));
const reversed = [...asked].reverse();
const done: (readonly TargetRound[])[] = [];
for (let round = 0; round < Number(rounds); round++) {
  for (let turn = 0; turn < Number(turns); turn++)
    for (const target of (round + turn) % 2 === 0 ? asked : reversed) await target.turn();
  done.push(asked.map((target) => target.round()));
}
for (const target of asked) target.close();
const found: Rounds = done;
console.log(JSON.stringify(found));
