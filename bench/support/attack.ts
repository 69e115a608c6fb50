/** Clients that are not honest: as many requests as come back, requests that nobody waits for, bodies that trickle, connections for their own sake. */
import { Agent, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { connect, type Socket } from "node:net";

/** One request. */
export interface Shot {
  readonly name: string;
  readonly path: string;
  readonly body: string | Buffer;
}

/** How an attack goes. */
export interface AttackOptions {
  readonly clients: number;
  /** The next request; undefined: no more. */
  readonly next: () => Shot | undefined;
  /** What is wrong with an answer; undefined: nothing. */
  readonly wrong: (shot: Shot, status: number, body: string) => string | undefined;
  /** Milliseconds after which a request is given up by its client; absent: never. */
  readonly abandonAfter?: number;
  readonly ca?: string;
}

/** What an attack came to. */
export interface AttackReport {
  requests: number;
  /** Answers by status; 0: the connection broke, or was given up. */
  readonly statuses: Map<number, number>;
  /** Milliseconds of the slowest answer, and what it was to. */
  slowest: { name: string; time: number };
  /** Wrong answers, the first few in words. */
  readonly wrong: string[];
}

/** Wrong answers kept. */
const MAX_WRONG = 5;

/** Sends requests one after the other from each of so many clients, until there are no more. */
export async function attack(url: string, options: AttackOptions): Promise<AttackReport> {
  const report: AttackReport = { requests: 0, statuses: new Map(), slowest: { name: "", time: 0 }, wrong: [] };
  const { clients, next, wrong, ca } = options;
  const kept = { keepAlive: true, maxSockets: clients };
  const agent = ca === undefined ? new Agent(kept) : new SecureAgent({ ...kept, ca });
  const client = async (): Promise<void> => {
    for (let shot = next(); shot !== undefined; shot = next()) {
      const started = performance.now();
      const { status, body } = await fire(agent, url, shot, options.abandonAfter);
      const time = performance.now() - started;
      report.requests += 1;
      report.statuses.set(status, (report.statuses.get(status) ?? 0) + 1);
      if (status !== 0 && time > report.slowest.time) report.slowest = { name: `${shot.path} ${shot.name}`, time };
      const problem = status === 0 ? undefined : wrong(shot, status, body);
      if (problem !== undefined && report.wrong.length < MAX_WRONG) report.wrong.push(problem);
      // A server that is gone for a moment is not asked a thousand times in it.
      if (status === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  agent.destroy();
  return report;
}

function fire(
  agent: Agent,
  url: string,
  { path, body }: Shot,
  abandonAfter: number | undefined,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    let answered = false;
    const ask = url.startsWith("https:") ? secureRequest : request;
    const outgoing = ask(`${url}${path}`, { method: "POST", agent, headers }, (response) => {
      answered = true;
      const { statusCode: status = 0 } = response;
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status, body: text }));
      response.on("error", () => resolve({ status: 0, body: "" }));
    });
    // A refused body may close the connection while it is still written; the answer counts if it came.
    outgoing.on("error", () => {
      if (!answered) resolve({ status: 0, body: "" });
    });
    outgoing.end(body);
    if (abandonAfter !== undefined) setTimeout(() => outgoing.destroy(), abandonAfter);
  });
}

/** An attack's answers in words. */
export function describeAttack({ requests, statuses, slowest }: AttackReport): string {
  const parts = Array.from(statuses, ([status, count]) => `${status === 0 ? "broken or given up" : status}: ${count}`);
  const slow = slowest.name === "" ? "" : `; slowest ${slowest.time.toFixed(0)} ms (${slowest.name})`;
  return `${requests} requests (${parts.join(", ")})${slow}`;
}

/** Connections that are kept open, and opened again when the server closes them, until `end` is called. */
export function holdConnections(url: string, count: number, opening = ""): { end(): void } {
  const { port } = new URL(url);
  const sockets = new Set<Socket>();
  let over = false;
  const open = (): void => {
    if (over) return;
    const socket = connect(Number(port), "127.0.0.1");
    sockets.add(socket);
    socket.on("connect", () => socket.write(opening)).on("error", () => {});
    socket.resume().on("close", () => {
      sockets.delete(socket);
      setTimeout(open, REOPEN_MS);
    });
  };
  for (let i = 0; i < count; i++) open();
  return {
    end: () => {
      over = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Pause before a connection is opened again: the flood is of connections, not of computing. */
const REOPEN_MS = 100;
/** Pause between two bytes of a body that trickles. */
const TRICKLE_MS = 250;

/** Clients whose bodies come byte by byte, until `end` is called. */
export function trickle(url: string, path: string, count: number): { end(): void } {
  const { port } = new URL(url);
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`;
  const held = Array.from({ length: count }, () => {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
    socket.resume().write(head);
    const timer = setInterval(() => socket.writable && socket.write(" "), TRICKLE_MS);
    return { socket, timer };
  });
  return {
    end: () => {
      for (const { socket, timer } of held) {
        clearInterval(timer);
        socket.destroy();
      }
    },
  };
}
