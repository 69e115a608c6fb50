/**
 * A load client as a process of its own: `node load-client.js <port> <path> <body file> <connections> <seconds>`. It keeps each connection busy with
 * one request at a time over loopback, stops by itself, and prints one line of JSON: requests, seconds, and percentiles of latency in milliseconds.
 *
 * It speaks just enough HTTP to count equal-sized answers: a general client costs more than the servers measured here.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const [port = "", path = "/", file = "", connections = "16", seconds = "5"] = process.argv.slice(2);
const body = readFileSync(file);
const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
const request = Buffer.concat([Buffer.from(head), body]);
const latencies: number[] = [];
const started = performance.now();
const end = started + Number(seconds) * 1000;

/** Bytes of one answer, head and body, read from the first one. */
function answerSize(first: Buffer): number {
  const text = first.toString("latin1");
  const headEnd = text.indexOf("\r\n\r\n");
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  if (!text.startsWith("HTTP/1.1 200") || headEnd < 0 || length === undefined)
    throw new Error(`unexpected answer: ${text}`);
  return headEnd + 4 + Number(length);
}

function runConnection(): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = 0;
    let size = 0;
    let sent = 0;
    const socket = connect(Number(port), "127.0.0.1");
    const send = () => {
      sent = performance.now();
      socket.write(request);
    };
    socket
      .on("connect", send)
      .on("error", reject)
      .on("close", () => resolve());
    socket.on("data", (chunk) => {
      received += chunk.length;
      if (size === 0) size = answerSize(chunk);
      if (received < size) return;
      received -= size;
      const now = performance.now();
      latencies.push(now - sent);
      if (now < end) send();
      else socket.destroy();
    });
  });
}

await Promise.all(Array.from({ length: Number(connections) }, runConnection));
latencies.sort((a, b) => a - b);
const percentile = (p: number) => latencies[Math.min(latencies.length - 1, Math.floor((latencies.length * p) / 100))];
const elapsed = (performance.now() - started) / 1000;
console.log(
  JSON.stringify({
    requests: latencies.length,
    seconds: elapsed,
    perSecond: latencies.length / elapsed,
    p50: percentile(50),
    p99: percentile(99),
  }),
);
