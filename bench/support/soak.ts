/**
 * Clients that send what real and hostile clients send, all at once, and check every answer: valid reviews, broken JSON, wrong shapes, huge bodies, unknown
 * policies, wrong methods. Loopback only; stops by itself.
 */
import { Agent, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";

/** One kind of request and the answer it must get. */
export interface Exchange {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly status: number;
  /** What the body must match. */
  readonly answer: RegExp;
}

/** What a run saw. */
export interface SoakReport {
  readonly requests: number;
  /** Wrong answers, the first few in words. */
  readonly wrong: readonly string[];
  /** Latencies in milliseconds by exchange. */
  readonly latencies: ReadonlyMap<string, readonly number[]>;
  /** Requests whose connection broke and that were answered when sent again. */
  readonly repeated: number;
}

/** How a run goes. */
export interface SoakOptions {
  readonly clients: number;
  readonly seconds: number;
  /** The authority of the server's certificate, for https addresses. */
  readonly ca?: string;
  /** Whether a request whose connection breaks is sent once more, as clients do whose server is replaced under them. */
  readonly repeat?: boolean;
  /** Requests after which a client takes a new connection; default never. */
  readonly perConnection?: number;
}

/** Wrong answers kept for the report. */
const MAX_WRONG = 20;

/** Runs `clients` clients for `seconds`, each going through the exchanges from a place of its own. */
export async function soak(
  url: string,
  exchanges: readonly Exchange[],
  { clients, seconds, ca, repeat = false, perConnection = Number.POSITIVE_INFINITY }: SoakOptions,
): Promise<SoakReport> {
  const newAgent = (): Agent =>
    ca === undefined
      ? new Agent({ keepAlive: true, maxSockets: 1 })
      : new SecureAgent({ keepAlive: true, maxSockets: 1, ca });
  const end = performance.now() + seconds * 1000;
  const wrong: string[] = [];
  const latencies = new Map<string, number[]>(exchanges.map(({ name }) => [name, []]));
  let requests = 0;
  let repeated = 0;
  const client = async (first: number): Promise<void> => {
    let agent = newAgent();
    for (let turn = first; performance.now() < end; turn++) {
      if ((turn - first) % perConnection === perConnection - 1) {
        agent.destroy();
        agent = newAgent();
      }
      const exchange = exchanges[turn % exchanges.length];
      if (exchange === undefined) return;
      const started = performance.now();
      let { status, body } = await send(agent, url, exchange);
      if (status === 0 && repeat) {
        repeated++;
        ({ status, body } = await send(agent, url, exchange));
      }
      latencies.get(exchange.name)?.push(performance.now() - started);
      requests++;
      if (status === exchange.status && exchange.answer.test(body)) continue;
      if (wrong.length < MAX_WRONG) wrong.push(`${exchange.name}: ${status} ${body.slice(0, 300)}`);
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return { requests, wrong, latencies, repeated };
}

function send(
  agent: Agent,
  url: string,
  { method = "POST", path, body = "", contentType = "application/json" }: Exchange,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const headers = { "Content-Type": contentType, "Content-Length": Buffer.byteLength(body) };
    let answered = false;
    const ask = url.startsWith("https:") ? secureRequest : request;
    const outgoing = ask(`${url}${path}`, { method, agent, headers }, (response) => {
      answered = true;
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on("error", (error) => resolve({ status: 0, body: error.message }));
    });
    // A refused body may close the connection while we still write; the answer counts if it came.
    outgoing.on("error", (error) => {
      if (!answered) resolve({ status: 0, body: error.message });
    });
    outgoing.end(body);
  });
}

/** Bytes that a process and those it has started hold in memory, from the kernel. */
export async function residentBytes(pid: number): Promise<number> {
  const { readFile } = await import("node:fs/promises");
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const own = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8"))
    .split(" ")
    .filter((text) => text !== "");
  const theirs = await Promise.all(children.map((child) => residentBytes(Number(child))));
  return theirs.reduce((sum, bytes) => sum + bytes, own);
}
