import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { PageState } from "../../src/page/api.js";
import { MAX_QUESTION_BYTES, MAX_QUESTIONS, pageHandler } from "../../src/page/handler.js";
import { PageError, type Playground } from "../../src/page/playground.js";
import { MAX_DRAFT_LENGTH } from "../../src/page/questions.js";
import { pageRoutes } from "../../src/page/routes.js";
import { createPolicySet } from "../../src/policy/served/policy-set.js";
import { immediate, post, serve, type TestServer } from "../server/fake-policy.js";

const HTML = `<!doctype html><title>page</title>${"<p>text</p>".repeat(200)}`;

describe("the page's routes", () => {
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  const entries = [
    immediate("ok", () => ({ verdict: "allow" })),
    immediate("broken", () => ({ verdict: "allow" }), { unavailable: "the module is not there" }),
  ];
  const policies = () => createPolicySet(entries);
  let waiting: (() => void)[] = [];
  const playground: Playground = {
    sources: async () => new Map([["ok", { kind: "entry", text: "ok: {}\n" }]]),
    check: ({ draft }) => {
      if (draft.text === "late") return Promise.reject(new PageError(504, "too late"));
      if (draft.text === "defect") return Promise.reject(new Error("/secret/path"));
      const answer = { problems: [], ids: [draft.text] };
      return draft.text === "wait"
        ? new Promise((resolve) => waiting.push(() => resolve(answer)))
        : Promise.resolve(answer);
    },
    evaluate: async ({ id }) => {
      throw new PageError(404, `no ${id}`);
    },
    close: async () => {},
  };
  const address = "127.0.0.1";
  const listener = pageHandler({ policies, address, playground }, pathToFileURL(`${folder}/`));
  const server = createServer(listener);
  let url = "";
  before(async () => {
    writeFileSync(join(folder, "index.html"), HTML);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    url = `http://${address}:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  test("the page comes compressed, with a policy that lets it load nothing from elsewhere", async () => {
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer) => body };
    for (const [accepted, encoding] of [
      ["gzip, br", "br"],
      ["gzip;q=1, br;q=0", "gzip"],
      ["deflate", "identity"],
    ] as const) {
      const { headers, body } = await raw(url, { "Accept-Encoding": accepted });
      assert.equal(headers["content-encoding"] ?? "identity", encoding);
      assert.equal(unpack[encoding](body).toString(), HTML);
      assert.match(
        String(headers["content-security-policy"]),
        /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/,
      );
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["cross-origin-resource-policy"], "same-origin");
      const again = await raw(url, { "If-None-Match": String(headers.etag) });
      assert.deepEqual([again.status, again.body.length], [304, 0]);
    }
    const head = await fetch(url, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });

  test("a file that the build has not made is a 404 that says so", async () => {
    const response = await fetch(`${url}/page/page.js`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /not part of this installation/);
  });

  test("the state has what is served, and what may be edited", async () => {
    const response = await fetch(`${url}/page/state`);
    const state = (await response.json()) as PageState;
    assert.equal(state.mode, "play");
    assert.equal(state.examples.length, 3);
    assert.deepEqual(
      state.policies.map(({ id, error, source, shownOnly }) => [id, error, source?.text, shownOnly?.slice(0, 33)]),
      [
        ["ok", undefined, "ok: {}\n", undefined],
        ["broken", "the module is not there", undefined, "it is not in the policies file: i"],
      ],
    );
    const again = await fetch(`${url}/page/state`, {
      headers: { "If-None-Match": response.headers.get("etag") ?? "" },
    });
    assert.equal(again.status, 304);
  });

  const check = (draft: unknown, headers: Record<string, string> = {}) => post(`${url}/page/check`, { draft }, headers);
  const entry = (text: string) => ({ kind: "entry", text });
  const refusal = async (asked: Promise<Response>): Promise<string> => {
    const response = await asked;
    return `${response.status} ${((await response.json()) as { error: string }).error}`;
  };

  test("questions of other sites, by other names, or of another type are refused", async () => {
    assert.match(await refusal(check(entry("a"), { Origin: "http://example.com" })), /^403 .*another site/);
    assert.match(await refusal(check(entry("a"), { "Sec-Fetch-Site": "cross-site" })), /^403 .*another site/);
    assert.match(await refusal(check(entry("a"), { "Content-Type": "text/plain" })), /^415 /);
    const rebound = await raw(`${url}/page/state`, { Host: "example.com" });
    assert.equal(rebound.status, 403);
    assert.equal((await check(entry("a"), { Origin: url })).status, 200);
  });

  test("questions of another shape say what is wrong with them", async () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [undefined, /^422 draft: expected an object$/],
      [{ kind: "wasm", text: "" }, /^422 draft.kind/],
      [{ kind: "entry" }, /^422 draft.text/],
      [entry("x".repeat(MAX_DRAFT_LENGTH + 1)), /^413 a draft has at most 65536 characters/],
      [entry("late"), /^504 too late$/],
      [entry("defect"), /^500 something went wrong/],
    ];
    for (const [draft, expected] of cases) assert.match(await refusal(check(draft)), expected);
    assert.match(await refusal(post(`${url}/page/check`, "{")), /^400 /);
    assert.match(await refusal(post(`${url}/page/check`, "[]")), /^422 /);
    assert.match(await refusal(post(`${url}/page/check`, " ".repeat(MAX_QUESTION_BYTES + 1))), /^413 /);
    const evaluate = (question: object) => refusal(post(`${url}/page/evaluate`, question));
    assert.match(await evaluate({ id: "a" }), /^422 payload/);
    assert.match(await evaluate({ payload: "" }), /^422 a draft or an id/);
    assert.match(await evaluate({ payload: "", id: 1 }), /^422 id/);
    assert.match(await evaluate({ payload: "", id: "a", operation: "DROP" }), /^422 operation/);
    assert.equal(await evaluate({ payload: "", id: "a" }), "404 no a");
  });

  test("so many questions are taken at a time", async () => {
    const taken = Array.from({ length: MAX_QUESTIONS }, () => check(entry("wait")));
    while (waiting.length < MAX_QUESTIONS) await new Promise(setImmediate);
    assert.match(await refusal(check(entry("a"))), /^429 /);
    for (const answer of waiting) answer();
    waiting = [];
    assert.deepEqual(
      (await Promise.all(taken)).map(({ status }) => status),
      taken.map(() => 200),
    );
    assert.equal((await check(entry("a"))).status, 200);
  });
});

describe("the page of a server", () => {
  let server: TestServer;
  before(async () => {
    const entries = [immediate("ok", () => ({ verdict: "allow" }))];
    server = await serve(entries, {
      added: [pageRoutes({ policies: () => server.evaluator.policies, address: "127.0.0.1" })],
    });
  });
  after(() => server.stop({ delay: 0, grace: 0 }));

  test("for reading, it shows what is served, and takes no drafts", async () => {
    const state = (await (await fetch(`${server.url}/page/state`)).json()) as PageState;
    assert.deepEqual([state.mode, state.policies.map(({ id }) => id), state.examples], ["read", ["ok"], []]);
    for (const path of ["check", "evaluate"]) {
      const response = await post(`${server.url}/page/${path}`, {});
      assert.equal(response.status, 403);
      assert.match(await response.text(), /"error":"this page is for reading/);
    }
    const { status, headers } = await fetch(`${server.url}/page/check`);
    assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
  });
});

test("a server without the page has nothing at its paths", async () => {
  const server = await serve([]);
  try {
    for (const path of ["/", "/page/state", "/page/page.js"])
      assert.equal((await fetch(server.url + path)).status, 404);
    assert.equal((await post(`${server.url}/page/check`, {})).status, 404);
  } finally {
    await server.stop({ delay: 0, grace: 0 });
  }
});

/** A request whose headers nobody adds to. */
function raw(url: string, headers: Record<string, string>) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const request = httpRequest(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    request.on("error", reject);
    request.end();
  });
}
