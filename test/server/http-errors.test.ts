import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { admissionReview, entry, immediate, post, serve, type TestServer } from "./fake-policy.js";

const ROUTES = ["validate", "audit", "validate_raw"] as const;
const GOOD = admissionReview();

describe("request errors (spec kubewarden.md 3.5)", () => {
  let server: TestServer;
  before(async () => {
    server = await serve([entry("ok", () => ({ verdict: "allow" })), immediate("now", () => ({ verdict: "allow" }))]);
  });
  after(() => server.stop({ delay: 0, grace: 0 }));

  async function expectProblem(
    response: Response,
    status: number,
    text: string | RegExp,
    json: boolean,
  ): Promise<void> {
    assert.equal(response.status, status);
    const body = await response.text();
    assert.equal(response.headers.get("content-length"), String(Buffer.byteLength(body)));
    assert.equal(response.headers.get("content-type"), json ? "application/json" : "text/plain; charset=utf-8");
    const message = json ? (JSON.parse(body) as { message: string; status: number }).message : body;
    if (json) assert.deepEqual(Object.keys(JSON.parse(body)), ["message", "status"]);
    if (typeof text === "string") assert.equal(message, text);
    else assert.match(message, text);
  }

  for (const route of ROUTES) {
    const json = route === "validate";

    test(`${route}: 415 for an absent or other content type, even with a bad id and body`, async () => {
      const text = "Expected request with `Content-Type: application/json`";
      for (const type of ["text/plain", "application/xml", "application/jsonx", "text/json"]) {
        await expectProblem(await post(`${server.url}/${route}/nope`, "{", { "Content-Type": type }), 415, text, json);
      }
      const bare = await fetch(`${server.url}/${route}/ok`, { method: "POST", body: new Uint8Array([123]) });
      await expectProblem(bare, 415, text, json);
    });

    test(`${route}: application/json with parameters, in any case, and application/*+json are accepted`, async () => {
      for (const type of [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/vnd.api+json",
        "application/json ;v=1",
      ]) {
        assert.equal((await post(`${server.url}/${route}/ok`, GOOD, { "Content-Type": type })).status, 200, type);
      }
    });

    test(`${route}: 400 for what is no JSON, before the id is looked at`, async () => {
      const cases: [string, RegExp][] = [
        ['{"a":', /^Failed to parse the request body as JSON: a: EOF while parsing a value at line 1 column 5$/],
        ["", /^Failed to parse the request body as JSON: EOF while parsing a value at line 1 column 0$/],
        ["{} x", /^Failed to parse the request body as JSON: trailing characters at line 1 column 4$/],
        ["[1,]", /^Failed to parse the request body as JSON: .*trailing comma at line 1 column 4$/],
        ["nope", /^Failed to parse the request body as JSON: expected/],
        [`${"[".repeat(100_000)}`, /^Failed to parse the request body as JSON: .*recursion limit exceeded/],
      ];
      for (const [body, message] of cases)
        await expectProblem(await post(`${server.url}/${route}/nope`, body), 400, message, json);
      const bytes = Buffer.concat([Buffer.from('{"request":"'), Buffer.from([0xff]), Buffer.from('"}')]);
      const response = await fetch(`${server.url}/${route}/ok`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: bytes,
      });
      await expectProblem(
        response,
        400,
        /^Failed to parse the request body as JSON: invalid unicode code point at line 1 column 13$/,
        json,
      );
    });

    test(`${route}: 422 for JSON of another shape`, async () => {
      const prefix = "Failed to deserialize the JSON body into the target type: ";
      await expectProblem(
        await post(`${server.url}/${route}/nope`, "{}"),
        422,
        `${prefix}missing field \`request\` at line 1 column 2`,
        json,
      );
      await expectProblem(
        await post(`${server.url}/${route}/ok`, "[]"),
        422,
        /invalid type: sequence, expected struct/,
        json,
      );
    });

    test(`${route}: 413 beyond 2 MiB exactly, and the answer is readable although the client is still writing`, async () => {
      const text = "Failed to buffer the request body: length limit exceeded";
      const pad = (size: number): string => {
        const frame = JSON.stringify({ ...GOOD, pad: "" });
        return JSON.stringify({ ...GOOD, pad: "x".repeat(size - frame.length) });
      };
      assert.equal((await post(`${server.url}/${route}/ok`, pad(2_097_152))).status, 200);
      await expectProblem(await post(`${server.url}/${route}/ok`, pad(2_097_153)), 413, text, json);
      await expectProblem(await post(`${server.url}/${route}/nope`, pad(8_388_608)), 413, text, json);
    });

    test(`${route}: 413 for more values than can be read in time`, async () => {
      const text = "The request body has more than 200000 JSON values (a greater --max-body-bytes allows more)";
      const body = (values: number): string =>
        JSON.stringify({ ...GOOD, pad: "x" }).replace('"x"', `[${"0,".repeat(values)}0]`);
      assert.equal((await post(`${server.url}/${route}/ok`, body(199_900))).status, 200);
      await expectProblem(await post(`${server.url}/${route}/ok`, body(200_000)), 413, text, json);
    });

    test(`${route}: 413 for an object of more members than can be looked at in time`, async () => {
      const text = "The request body has an object of more than 50000 members (a greater --max-body-bytes allows more)";
      const wide = (members: number): object =>
        Object.fromEntries(Array.from({ length: members }, (_, i) => [`key${i}`, i]));
      assert.equal((await post(`${server.url}/${route}/ok`, { ...GOOD, pad: wide(50_000) })).status, 200);
      await expectProblem(await post(`${server.url}/${route}/ok`, { ...GOOD, pad: wide(50_001) }), 413, text, json);
    });

    test(`${route}: 404 for an unknown policy, JSON on every route`, async () => {
      await expectProblem(await post(`${server.url}/${route}/nope`, GOOD), 404, "unknown policy: nope", true);
      await expectProblem(await post(`${server.url}/${route}/a%2Fb`, GOOD), 404, "unknown policy: a/b", true);
      await expectProblem(await post(`${server.url}/${route}/a/b`, GOOD), 404, "unknown policy: a/b", true);
      await expectProblem(await post(`${server.url}/${route}/__proto__`, GOOD), 404, "unknown policy: __proto__", true);
    });

    test(`${route}: 500 for an id of three parts, 400 as text for one that is not UTF-8`, async () => {
      await expectProblem(await post(`${server.url}/${route}/a%2Fb%2Fc`, GOOD), 500, "Something went wrong", true);
      await expectProblem(
        await post(`${server.url}/${route}/%FF`, GOOD),
        400,
        "Invalid URL: Invalid UTF-8 in `policy_id`",
        false,
      );
    });

    test(`${route}: 405 with Allow for other methods, 404 for other paths, both with words for people`, async () => {
      for (const method of ["GET", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"]) {
        const response = await fetch(`${server.url}/${route}/ok`, { method });
        assert.equal(response.status, 405, method);
        assert.equal(response.headers.get("allow"), "POST");
        const words = `${method} /${route}/ok: this path is asked by POST, with `;
        assert.ok((await response.text()).startsWith(method === "HEAD" ? "" : words), method);
      }
      for (const path of ["", "/", "/a/", "/a/b/c", "//", "/a//b", `x/ok`]) {
        const response = await post(`${server.url}/${route}${path}`, GOOD);
        assert.equal(response.status, 404, path);
        assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
        assert.match(await response.text(), /: nothing is served here/);
      }
    });
  }

  test("the query string is not part of the id", async () => {
    assert.equal((await post(`${server.url}/validate/now?timeout=10s`, GOOD)).status, 200);
    await expectProblem(await post(`${server.url}/validate/no?timeout=10s`, GOOD), 404, "unknown policy: no", true);
  });

  test("a broken escape in the path is taken literally", async () => {
    await expectProblem(await post(`${server.url}/validate/a%zz`, GOOD), 404, "unknown policy: a%zz", true);
  });
});
