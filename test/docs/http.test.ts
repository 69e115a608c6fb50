import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import type { Express } from "express";
import * as problems from "../../src/admission/request-problem.js";
import { createWebhooks } from "../../src/kinds/registry.js";
import { createEvaluator } from "../../src/policy/served/evaluator.js";
import { createPolicySet } from "../../src/policy/served/policy-set.js";
import { createApp } from "../../src/server/app.js";
import { apiRoutes, appPaths, probeRoutes } from "../../src/server/plain-routes.js";
import { isReviewPath } from "../../src/server/routes.js";
import { OPENAPI_PATH } from "../../src/server/server.js";
import { admissionReview, immediate, serve, type TestServer } from "../server/fake-policy.js";

const page = readFileSync(new URL("../../../docs/http.md", import.meta.url), "utf8");

/** What messages that are not taken, and the routes, are answered with, beside the problems of admission. */
const STATUSES_OF_THE_SERVER = [404, 405, 408, 417, 431, 501, 505];

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly api: boolean;
  readonly probes: boolean;
}

const endpoints: Endpoint[] = page.split("\n").flatMap((line) => {
  const [, what = "", port = ""] = line.split("|");
  return Array.from(what.matchAll(/`([A-Z]+) (\/[^`?]*)[^`]*`/g), ([, method = "", path = ""]) => ({
    method,
    path,
    api: port.includes("API"),
    probes: port.includes("readiness"),
  }));
});

describe("docs/http.md", () => {
  const webhooks = createWebhooks();
  let server: TestServer;
  before(async () => {
    const policies = [immediate("now", () => ({ verdict: "allow" }))];
    server = await serve(policies, { profiles: true, readinessPort: 0, webhooks });
    server.evaluator.use(createPolicySet(policies, 2, [{ hash: "0123", members: ["now"] }]));
  });
  after(async () => {
    await server.stop({ delay: 0, grace: 0 });
    for (const webhook of webhooks) webhook.close();
  });

  test("every endpoint answers on the ports it names, and only there", async () => {
    assert.ok(endpoints.length > 8);
    for (const { method, path, api, probes } of endpoints) {
      const body = path.startsWith("/validate_raw/") ? '{"request":{}}' : JSON.stringify(admissionReview());
      const ask = async (base: string): Promise<number> => {
        const query = path.includes("pprof") ? "?interval=0.01" : "";
        const response = await fetch(`${base}${path.replace("<id>", "now").replace("<hash>", "0123")}${query}`, {
          method,
          ...(method === "POST" && { body, headers: { "Content-Type": "application/json" } }),
        });
        await response.arrayBuffer();
        return response.status;
      };
      assert.equal(await ask(server.url), api ? 200 : 404, `API port: ${method} ${path}`);
      assert.equal(await ask(server.probes), probes ? 200 : 404, `readiness port: ${method} ${path}`);
    }
  });

  test("every route has a row", () => {
    const evaluator = createEvaluator(createPolicySet([]), { policyTimeout: 2000 });
    const metricsText = async () => ({ parts: [] });
    assert.deepEqual(pathsOf(createApp({ evaluator, profiles: true, shadows: async () => [] })), appPaths(true));
    const paths = [
      ...appPaths(true),
      ...apiRoutes(metricsText).keys(),
      OPENAPI_PATH,
      ...webhooks.map(({ path }) => path),
      ...probeRoutes({ ready: () => true, metricsText }).keys(),
      ...["/validate/:id", "/audit/:id", "/validate_raw/:id"].filter((path) => isReviewPath(path)),
    ];
    const written = new Set(endpoints.map(({ path }) => path.replace("<id>", ":id")));
    for (const path of paths) assert.ok(written.has(path), path);
  });

  test("every status of a refusal has a row, and every row such a status", () => {
    const known = Object.values(problems).map(
      (problem) =>
        (typeof problem === "function"
          ? (problem as (about: never) => { readonly status: number })("" as never)
          : problem
        ).status,
    );
    const rows = Array.from(page.matchAll(/^\| (\d{3}) \|/gm), ([, status]) => Number(status));
    assert.deepEqual(rows, [...new Set([...known, ...STATUSES_OF_THE_SERVER])].sort());
  });
});

function pathsOf(app: Express): string[] {
  return app.router.stack.flatMap(({ route }) => (route === undefined ? [] : [route.path].flat()));
}
