import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { type LoadedRoutes, plainOr, probeHandler } from "../../src/server/plain-routes.js";
import { sendEmpty } from "../../src/server/respond.js";
import { isReviewPath } from "../../src/server/routes.js";

/** Asks for the same targets again and again; returns status and `Allow` of each. */
async function asked(load: LoadedRoutes["load"], requests: readonly (readonly [string, string])[]): Promise<string[]> {
  const handler = plainOr({
    plain: new Map([["/metrics", (response) => sendEmpty(response, 200)]]),
    loaded: [{ paths: ["/policies"], load }],
    isPosted: (path) => isReviewPath(path) || path === "/hook",
  });
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const answers: string[] = [];
  try {
    for (const [method, target] of requests) {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${target}`;
      const { status, headers } = await fetch(url, { method });
      answers.push([status, headers.get("content-length"), headers.get("allow")].join(" ").trim());
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return answers;
}

describe("what is answered behind the hot routes", () => {
  test("404, 405 and a path that is not UTF-8 load no app", async () => {
    const load = (): Promise<RequestListener> => assert.fail("loaded");
    const expected: readonly (readonly [string, string, string])[] = [
      ["GET", "/metrics", "200 0"],
      ["PUT", "/metrics", "405 0 GET, HEAD"],
      ["POST", "/policies", "405 0 GET, HEAD"],
      ["OPTIONS", "/policies?x", "405 0 GET, HEAD"],
      ["GET", "/policies/", "404 0"],
      ["GET", "/Policies", "404 0"],
      ["GET", "/validate/a", "405 0 POST"],
      ["DELETE", "/audit/a/b?x=1", "405 0 POST"],
      ["GET", "/validate_raw/a%2Fb", "405 0 POST"],
      ["GET", "/validate/%ff", "400 0"],
      ["GET", "/validate/a/b/c", "404 0"],
      ["GET", "/validate/", "404 0"],
      ["PATCH", "/hook", "405 0 POST"],
      ["GET", "/nobody/%ff", "404 0"],
    ];
    const answers = await asked(
      load,
      expected.map(([method, target]) => [method, target]),
    );
    assert.deepEqual(
      answers,
      expected.map(([, , answer]) => answer),
    );
  });

  test("an app that could not be loaded is a 500, and tried again; one that was is loaded once", async () => {
    let loads = 0;
    const load = async (): Promise<RequestListener> => {
      loads++;
      if (loads < 3) throw new Error("EMFILE");
      return (_request, response) => sendEmpty(response, 200);
    };
    const policies = ["GET", "/policies"] as const;
    assert.deepEqual(await asked(load, [policies, policies, policies, policies]), ["500 0", "500 0", "200 0", "200 0"]);
    assert.equal(loads, 3);
  });
});

test("readiness says why nobody should be sent here yet", async () => {
  const probe = { ready: true, why: undefined as string | undefined };
  const options = { ready: () => probe.ready, unready: () => probe.why, metricsText: async () => ({ parts: [] }) };
  const server = createServer(probeHandler(options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const answer = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/readiness`);
    return `${response.status} ${await response.text()}`;
  };
  try {
    assert.equal(await answer(), "200 ");
    probe.why = "policies are being read";
    assert.equal(await answer(), "503 policies are being read\n");
    probe.ready = false;
    assert.equal(await answer(), "503 ");
    probe.why = undefined;
    assert.equal(await answer(), "503 ");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
