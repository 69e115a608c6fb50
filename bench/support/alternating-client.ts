/**
 * A client that asks two servers in turns, as a process of its own: `node alternating-client.js <body file> <connections> <pairs> <milliseconds> <target> <target>`, a target being
 * a port of loopback with a path, and the process whose processor time is read. Each turn keeps all connections of one target busy for some hundred milliseconds, and the other target's turn follows at once:
 * a slow moment of the machine strikes both. Connections stay open. It stops by itself, and prints one line of JSON: {@link Turns}.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { answerSize, requestOf } from "./answer-size.js";

/** By pair of turns, what each target did. */
export interface Turns {
  readonly pairs: readonly (readonly [Turn, Turn])[];
}

/** One target's turn. */
export interface Turn {
  readonly requests: number;
  readonly milliseconds: number;
  /** Processor time of the server, in hundredths of seconds; NaN where it can't be had. */
  readonly ticks: number;
}

/** Milliseconds after which an answer that is still missing is not waited for any longer. */
const GIVE_UP_MS = 30_000;

const [file = "", connections = "16", pairs = "40", milliseconds = "250", ...targets] = process.argv.slice(2);
const body = readFileSync(file);

/** Keeps one request at a time under way, while it is told to. */
class Connection {
  readonly #socket: Socket;
  readonly #request: Buffer;
  readonly #path: string;
  /** Nearly always empty: an answer comes whole. */
  #before: Buffer | undefined;
  #end = 0;
  #answered = 0;
  #done: ((answered: number) => void) | undefined;

  constructor(port: number, path: string) {
    this.#request = requestOf(path, body);
    this.#path = path;
    this.#socket = connect(port, "127.0.0.1").setNoDelay(true);
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("close", () => {
      if (this.#done !== undefined) throw new Error(`${path}: closed early`);
    });
  }

  /** @returns how many were answered, when the last one is */
  run(end: number): Promise<number> {
    this.#end = end;
    this.#answered = 0;
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#socket.write(this.#request);
    });
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
    this.#answered++;
    if (performance.now() < this.#end) {
      this.#socket.write(this.#request);
      return;
    }
    const done = this.#done;
    this.#done = undefined;
    done?.(this.#answered);
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

  /** @param target `<port><path>@<process>` */
  constructor(target: string) {
    const [, port = "", path = "", pid = ""] = /^(\d+)(\/[^@]*)@(\d+)$/.exec(target) ?? [];
    this.#connections = Array.from({ length: Number(connections) }, () => new Connection(Number(port), path));
    this.#pid = pid;
  }

  async turn(): Promise<Turn> {
    const before = ticksOf(this.#pid);
    const started = performance.now();
    const answered = await Promise.all(this.#connections.map((each) => each.run(started + Number(milliseconds))));
    return {
      requests: answered.reduce((sum, each) => sum + each, 0),
      milliseconds: performance.now() - started,
      ticks: ticksOf(this.#pid) - before,
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
  2 * Number(pairs) * Number(milliseconds) + GIVE_UP_MS,
).unref();
const [left, right] = targets.map((target) => new Target(target));
if (left === undefined || right === undefined) throw new Error("there are two targets");
const done: (readonly [Turn, Turn])[] = [];
for (let pair = 0; pair < Number(pairs); pair++) done.push([await left.turn(), await right.turn()]);
left.close();
right.close();
const turns: Turns = { pairs: done };
console.log(JSON.stringify(turns));
