/**
 * A load client as a process of its own: `node load-client.js <port> <path> <body file> <connections> <seconds>`. It keeps each connection busy with
 * one request at a time over loopback, stops by itself, and prints one line of JSON: a {@link Load}.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { answerSize, requestOf } from "./answer-size.js";

/** What one run saw. */
export interface Load {
  readonly requests: number;
  /** Answers that say `"allowed":true`. */
  readonly allowed: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Part of a processor that the client itself used: near 1 it is what was measured. */
  readonly clientCpu: number;
}

const ALLOWED = '"allowed":true';
/** Milliseconds after which an answer that is still missing at the end is not waited for any longer. */
const GIVE_UP_MS = 30_000;

const [port = "", path = "/", file = "", connections = "16", seconds = "5"] = process.argv.slice(2);
const request = requestOf(path, readFileSync(file));
const latencies: number[] = [];
let allowed = 0;
const startedWith = process.cpuUsage();
const started = performance.now();
const end = started + Number(seconds) * 1000;

function runConnection(): Promise<void> {
  return new Promise((resolve, reject) => {
    // Nearly always empty: an answer comes whole.
    let before: Buffer | undefined;
    let sent = 0;
    const socket = connect(Number(port), "127.0.0.1").setNoDelay(true);
    const send = () => {
      sent = performance.now();
      socket.write(request);
    };
    socket
      .on("connect", send)
      .on("error", reject)
      .on("close", () => (performance.now() < end ? reject(new Error(`${path}: closed early`)) : resolve()));
    socket.on("data", (chunk) => {
      const received = before === undefined ? chunk : Buffer.concat([before, chunk]);
      const size = answerSize(received, path);
      if (size === undefined || received.length < size) {
        before = received;
        return;
      }
      before = undefined;
      const now = performance.now();
      latencies.push(now - sent);
      if (received.includes(ALLOWED)) allowed++;
      if (now < end) send();
      else socket.destroy();
    });
  });
}

const stuck = setTimeout(
  () => {
    throw new Error(`${path}: no answer for ${GIVE_UP_MS / 1000} s`);
  },
  Number(seconds) * 1000 + GIVE_UP_MS,
);
await Promise.all(Array.from({ length: Number(connections) }, runConnection));
clearTimeout(stuck);
const elapsed = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(startedWith);
latencies.sort((a, b) => a - b);
const percentile = (p: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor((latencies.length * p) / 100))] ?? 0;
const load: Load = {
  requests: latencies.length,
  allowed,
  seconds: elapsed,
  perSecond: latencies.length / elapsed,
  p50: percentile(50),
  p99: percentile(99),
  clientCpu: (user + system) / 1e6 / elapsed,
};
console.log(JSON.stringify(load));
