import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { CheckQuestion, EvaluateQuestion, PageState } from "../../src/page/api.js";
import { checkOf, evaluateOf, stateOf } from "./mock-answers.js";

/** What the page must do with: nothing from elsewhere, nothing inline. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:";
const FILES: ReadonlyMap<string, readonly [file: string, type: string]> = new Map([
  ["/", ["index.html", "text/html; charset=utf-8"]],
  ["/page/page.js", ["page.js", "text/javascript; charset=utf-8"]],
  ["/page/page.css", ["page.css", "text/css; charset=utf-8"]],
]);

/** A server that says to the page what a test wants. */
export interface MockServer {
  readonly url: string;
  /** What it serves from now on. */
  serve: (state: PageState) => void;
  /** Questions that were asked: the path, and whether the page waited for the answer. */
  readonly asked: readonly string[];
  /** Goes away, and comes back at the same address. */
  readonly stop: () => Promise<void>;
  readonly comeBack: () => Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Starts one, on a free port. `wait: N` in a payload answers after N milliseconds, `refuse: N` with that status. */
export async function mockServer(): Promise<MockServer> {
  let state = stateOf("play");
  const asked: string[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    const file = FILES.get(path);
    if (file !== undefined) {
      const headers = {
        "content-type": file[1],
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
      };
      response.writeHead(200, headers).end(readFileSync(new URL(`../../page/${file[0]}`, import.meta.url)));
    } else if (path === "/page/state") send(200, state);
    else if (path === "/page/check")
      send(200, checkOf((JSON.parse(await bodyOf(request)) as CheckQuestion).draft.text));
    else if (path === "/page/evaluate") {
      const question = JSON.parse(await bodyOf(request)) as EvaluateQuestion;
      const refusal = /refuse: (\d+)/.exec(question.payload);
      const wait = /wait: (\d+)/.exec(question.payload);
      response.on("close", () => asked.push(response.writableFinished ? "evaluated" : "ended"));
      if (wait !== null) await sleep(Number(wait[1]));
      if (refusal !== null) send(Number(refusal[1]), { error: `refused with ${refusal[1]}` });
      else if (!response.destroyed) send(200, evaluateOf(question));
    } else send(404, { error: "no such path" });
  }

  const make = () => createServer((request, response) => void answer(request, response));
  let server = make();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    if (server.listening) await once(server, "close");
  };
  return {
    url: `http://127.0.0.1:${port}/`,
    asked,
    serve: (next) => {
      state = next;
    },
    stop,
    async comeBack() {
      server = make();
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
  };
}
