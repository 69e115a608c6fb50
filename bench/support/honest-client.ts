/**
 * Honest clients as a process of its own, so that what else is going on does not make their clock late: `honest-client.js <options as JSON>`, started
 * with a channel for messages. Every answer is checked. A request whose connection breaks is sent again on a new one, as clients do, and counted.
 */
import { Agent, type ClientRequest, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { FromHonest, HonestOptions, Phase, PhaseReport, ToHonest } from "./honest-messages.js";
import { judge, KNOWN, type Known } from "./reviews.js";

/** Connections at a time; more requests wait here. */
const MAX_CONNECTIONS = 64;
/** How often it is looked whether requests are due. */
const TICK_MS = 5;
/** Requests a second to the bare server: a hundred in two seconds, for a p99. */
const REFERENCE_RATE = 50;
/** Answers that are not right, told in words. */
const MAX_EXAMPLES = 1;
/** How long a request is tried again, and how often. */
const TRY_FOR_MS = 30_000;
const TRY_EVERY_MS = 100;

const options = JSON.parse(process.argv[2] ?? "{}") as HonestOptions;
const secure = options.url.startsWith("https:");

function newAgent(): Agent {
  // In turns, so that connections to every process are used.
  const kept = { keepAlive: true, maxSockets: MAX_CONNECTIONS, scheduling: "fifo" } as const;
  return secure ? new SecureAgent({ ...kept, ca: options.ca }) : new Agent(kept);
}

interface Counts {
  readonly started: number;
  requests: number;
  wrong: number;
  readonly examples: string[];
  failed: number;
  turnedAway: number;
  lost: number;
  refused: number;
  unanswered: number;
  readonly times: Map<string, number[]>;
  readonly reference: number[];
}

type Attempt =
  | { readonly kind: "answer"; readonly status: number; readonly body: string }
  | { readonly kind: "lost" | "refused" };

let agent = newAgent();
const referenceAgent = new Agent({ keepAlive: true, scheduling: "fifo" });
let serial = 0;

/** Sends one request. @param own whether on a connection of its own */
function send(url: string, { path, before, after }: Known, uid: string, own: boolean): Promise<Attempt> {
  return new Promise((resolve) => {
    const body = before + uid + after;
    const ask = secure ? secureRequest : request;
    let outgoing: ClientRequest;
    const patience = setTimeout(() => {
      resolve({ kind: "lost" });
      outgoing.destroy();
    }, options.patience);
    const settle = (attempt: Attempt): void => {
      clearTimeout(patience);
      resolve(attempt);
    };
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const shared = own ? { agent: false as const, ca: options.ca } : { agent };
    outgoing = ask(`${url}${path}`, { method: "POST", headers, ...shared }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => settle({ kind: "answer", status: response.statusCode ?? 0, body: text }));
      response.on("error", () => settle({ kind: "lost" }));
    });
    outgoing.on("error", () => settle({ kind: outgoing.reusedSocket ? "lost" : "refused" }));
    outgoing.end(body);
  });
}

async function one(counts: Counts): Promise<void> {
  const number = serial++;
  const known = KNOWN[number % KNOWN.length];
  if (known === undefined) return;
  const uid = `honest-${number}`;
  counts.requests += 1;
  const started = performance.now();
  let attempt = await send(options.url, known, uid, false);
  const first = attempt.kind;
  if (first === "answer") times(counts, known.name).push(performance.now() - started);
  else counts[first] += 1;
  while (attempt.kind !== "answer" && performance.now() - started < TRY_FOR_MS + options.patience) {
    await sleep(TRY_EVERY_MS);
    attempt = await send(options.url, known, uid, true);
  }
  if (attempt.kind !== "answer") {
    counts.unanswered += 1;
    return;
  }
  const judgement = judge(known, uid, attempt.status, attempt.body);
  if (judgement === "refused") counts.turnedAway += 1;
  else if (judgement === "failed") counts.failed += 1;
  else if (judgement !== "right") counts.wrong += 1;
  if (judgement === "right" || counts.examples.length >= MAX_EXAMPLES) return;
  counts.examples.push(
    typeof judgement === "object" ? judgement.wrong : `${known.name}: ${attempt.status} ${attempt.body.slice(0, 200)}`,
  );
}

function times(counts: Counts, name: string): number[] {
  const known = counts.times.get(name);
  if (known !== undefined) return known;
  const list: number[] = [];
  counts.times.set(name, list);
  return list;
}

/** Asks the bare server, which answers in no time. */
function refer(counts: Counts): Promise<void> {
  return new Promise((resolve) => {
    const started = performance.now();
    const outgoing = request(options.reference, { method: "POST", agent: referenceAgent }, (response) => {
      response.resume().on("end", () => {
        counts.reference.push(performance.now() - started);
        resolve();
      });
    });
    outgoing.on("error", () => resolve());
    outgoing.end("{}");
  });
}

/** A phase under way. */
class Running {
  readonly #phase: Phase;
  readonly #counts: Counts = {
    started: performance.now(),
    ...{ requests: 0, wrong: 0, examples: [], failed: 0, turnedAway: 0, lost: 0, refused: 0, unanswered: 0 },
    ...{ times: new Map(), reference: [] },
  };
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #referred = 0;
  #over = false;

  constructor(phase: Phase) {
    this.#phase = phase;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    for (let i = 0; i < (phase.clients ?? 0); i++) this.#keep(this.#loop());
  }

  /** Sends no more, and tells what came of what was sent. */
  async end(): Promise<PhaseReport> {
    this.#over = true;
    clearInterval(this.#timer);
    const seconds = (performance.now() - this.#counts.started) / 1000;
    await Promise.all(this.#pending);
    const { started: _, times, reference, ...counted } = this.#counts;
    const all = [...times.values()].flat().sort(ascending);
    for (const list of times.values()) list.sort(ascending);
    const kinds = Array.from(times, ([name, list]) => ({ name, p50: at(list, 50), p99: at(list, 99) }));
    reference.sort(ascending);
    return {
      name: this.#phase.name,
      seconds,
      ...counted,
      ...{ p50: at(all, 50), p99: at(all, 99), max: at(all, 100) },
      kinds: kinds.sort((a, b) => b.p99 - a.p99),
      ...{ referenceP99: at(reference, 99), referenceMax: at(reference, 100) },
    };
  }

  #tick(): void {
    const elapsed = (performance.now() - this.#counts.started) / 1000;
    for (; this.#sent < elapsed * this.#phase.rate; this.#sent++) this.#keep(one(this.#counts));
    for (; this.#referred < elapsed * REFERENCE_RATE; this.#referred++) this.#keep(refer(this.#counts));
  }

  async #loop(): Promise<void> {
    while (!this.#over) await one(this.#counts);
  }

  #keep(work: Promise<void>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }
}

const ascending = (a: number, b: number): number => a - b;
const at = (sorted: readonly number[], percent: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;

let running: Running | undefined;

async function finish(): Promise<void> {
  const ended = running;
  running = undefined;
  if (ended === undefined) return;
  const message: FromHonest = { report: await ended.end() };
  process.send?.(message);
}

process.on("message", async (message: ToHonest) => {
  await finish();
  if (message.type === "end") process.exit(0);
  if (message.phase.fresh) {
    agent.destroy();
    agent = newAgent();
  }
  running = new Running(message.phase);
});
process.on("disconnect", () => process.exit(0));
