/**
 * Honest traffic as a process of its own: `node steady-client.js <port> <requests/s> <seconds> <file>`. Sends so many requests a second over loopback
 * whether or not earlier ones are answered, as an API server does, each the next of the file's: a JSON list of `path` and `body`. What is not allowed
 * counts as denied. Prints one line of JSON: {@link Sample}s in the order of their answers.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** One request: when it should have been sent (milliseconds since 1970), the milliseconds to its answer, and whether it was allowed. */
export type Sample = readonly [due: number, latency: number, allowed: boolean];

interface Asked {
  readonly path: string;
  readonly body: string;
}

const [port = "", perSecond = "100", seconds = "5", file = ""] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(file, "utf8")) as readonly Asked[];
const agent = new Agent({ keepAlive: true });
const samples: Sample[] = [];

/** Counts from when the request was due: a client that is late itself hides nothing. */
function send({ path, body }: Asked, due: number): Promise<void> {
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  return new Promise((resolve) => {
    const end = (allowed: boolean): void => {
      samples.push([performance.timeOrigin + due, performance.now() - due, allowed]);
      resolve();
    };
    const outgoing = request({ port, host: "127.0.0.1", path, method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => end(text.includes('"allowed":true')));
    });
    outgoing.on("error", () => end(false));
    outgoing.end(body);
  });
}

const started = performance.now();
const pending: Promise<void>[] = [];
for (let count = 0; count < Number(perSecond) * Number(seconds); count++) {
  const due = started + (count * 1000) / Number(perSecond);
  if (due > performance.now()) await sleep(due - performance.now());
  const next = asked[count % asked.length];
  if (next) pending.push(send(next, Math.max(due, performance.now() - 1)));
}
await Promise.all(pending);
agent.destroy();
process.stdout.write(JSON.stringify(samples));
