import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createWebhooks } from "../../src/loader/index.js";
import { pageRoutes } from "../../src/page/routes.js";
import { admissionReview, immediate, post, serve, type TestServer } from "./fake-policy.js";

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

describe("what a server says of itself", () => {
  const ids = ["workloads", "images"];
  const webhooks = createWebhooks();
  let server: TestServer;
  before(async () => {
    server = await serve(
      ids.map((id) => immediate(id, () => ({ verdict: "allow" }))),
      {
        profiles: true,
        webhooks,
        added: [pageRoutes({ policies: () => server.evaluator.policies, address: "127.0.0.1" })],
      },
    );
  });
  after(async () => {
    await server.stop({ delay: 0, grace: 0 });
    for (const webhook of webhooks) webhook.close();
  });

  const described = async (url = server.url): Promise<Document> =>
    (await (await fetch(`${url}/openapi.json`)).json()) as Document;

  test("every path of the OpenAPI document is there, by the methods that it says, and on the port that it says", async () => {
    const { openapi, paths } = await described();
    assert.equal(openapi, "3.1.0");
    const probes = ["/readiness", "/liveness"];
    for (const [path, item] of Object.entries(paths)) {
      const url = probes.includes(path) ? server.probes : server.url;
      const { status, headers } = await fetch(url + path.replace("{id}", "workloads"), { method: "PATCH" });
      const methods = (headers.get("allow") ?? "").split(", ").filter((method) => method !== "HEAD");
      assert.deepEqual([status, methods.map((method) => method.toLowerCase())], [405, Object.keys(item)], path);
    }
  });

  test("every path that there is stands in the document", async () => {
    const known = [
      ...["/validate/{id}", "/audit/{id}", "/validate_raw/{id}", ...webhooks.map(({ path }) => path)],
      ...["/policies", "/metrics", "/version", "/openapi.json", "/debug/pprof/cpu", "/debug/pprof/heap"],
      ...["/", "/page/page.js", "/page/page.css", "/page/state", "/page/check", "/page/evaluate"],
      ...["/readiness", "/liveness"],
    ];
    assert.deepEqual(Object.keys((await described()).paths).sort(), known.sort());
    const bare = await serve([]);
    try {
      const paths = Object.keys((await described(bare.url)).paths);
      assert.deepEqual(
        paths.filter((path) => path.startsWith("/page") || path.startsWith("/debug") || path === "/"),
        [],
      );
    } finally {
      await bare.stop({ delay: 0, grace: 0 });
    }
  });

  test("every reference of the document leads somewhere", async () => {
    const document = await described();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    assert.ok(references.length > 10);
    for (const [text, section = "", name = ""] of references) assert.ok(document.components[section]?.[name], text);
  });

  test("GET /version tells the version and Node.js's", async () => {
    const { version, node } = (await (await fetch(`${server.url}/version`)).json()) as Record<string, string>;
    assert.match(version ?? "", /^\d+\.\d+\.\d+/);
    assert.equal(node, process.versions.node);
  });

  test("404 and 405 say what may have been meant", async () => {
    const cases: readonly (readonly [string, number, RegExp])[] = [
      ["/validate/workload", 405, /asked by POST, and no policy is named "workload" \(did you mean "workloads"\?\)\n$/],
      ["/validate/images", 405, /asked by POST, with an AdmissionReview as JSON in the body\n$/],
      ["/validate_raw/images", 405, /asked by POST, with \{"request": …\} as JSON in the body\n$/],
      ["/audit/quite-another", 405, /no policy is named "quite-another"\n$/],
      ["/polices", 404, /nothing is served here \(did you mean "\/policies"\?\)\nPOST an AdmissionReview/],
      ["/page/check", 405, /asked by POST\n$/],
    ];
    for (const [path, status, text] of cases) {
      const response = await fetch(server.url + path);
      assert.equal(response.status, status, path);
      assert.match(await response.text(), text);
      assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      const head = await fetch(server.url + path, { method: "HEAD" });
      assert.deepEqual([head.status, await head.text()], [status, ""]);
    }
  });

  test("what was asked is told back short and printable, whatever it was", async () => {
    const hostile = [
      "/validate/%0d%0aSet-Cookie:%20a%3Db",
      "/%1b%5b31m",
      `/${"a".repeat(9_000)}`,
      "/validate/%3Cscript%3E",
    ];
    for (const path of hostile) {
      const text = await (await fetch(server.url + path)).text();
      assert.ok(text.length < 500, path.slice(0, 40));
      assert.doesNotMatch(text.trimEnd(), /[^\x20-\x7e\n]|\r/);
      assert.equal(text.includes("\nSet-Cookie"), false);
    }
  });

  test("the API server's 404 for a policy that is not there stays as it is", async () => {
    const response = await post(`${server.url}/validate/workload`, admissionReview());
    const { status, message } = (await response.json()) as Record<string, unknown>;
    assert.deepEqual([status, message], [404, "unknown policy: workload"]);
  });
});
