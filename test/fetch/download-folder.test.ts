/** What is believed of what lies in the download folder. */
import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { failureOf, fetcher, folder, insecure, WASM } from "./helpers.js";
import { sha256, TestRegistry } from "./test-registry.js";

const OTHER = Buffer.concat([WASM, Buffer.from("other")]);

describe("a module by its digest", () => {
  async function pulled(context: TestContext) {
    const registry = await TestRegistry.start(context);
    const digest = registry.pushModule("p", "v1", WASM);
    const downloadDirectory = folder(context);
    const pull = async (): Promise<readonly string[]> => {
      const before = registry.requests.length;
      const modules = fetcher(context, { downloadDirectory, sources: insecure(registry.host) });
      assert.equal((await modules.fetch(`registry://${registry.host}/p@${digest}`)).digest, sha256(WASM));
      return registry.requests.slice(before).map((each) => each.split("/").slice(3, 4).join());
    };
    const path = join(downloadDirectory, "registry", registry.host, `p@${digest}`);
    return { registry, digest, pull, path, downloadDirectory };
  }

  test("is reused without a question, as long as it is the one", async (context) => {
    const { pull } = await pulled(context);
    assert.deepEqual(await pull(), ["manifests", "blobs"]);
    assert.deepEqual(await pull(), []);
  });

  test("is not another one that lies there, with its own digest beside it", async (context) => {
    const { pull, path } = await pulled(context);
    await pull();
    writeFileSync(path, OTHER);
    writeFileSync(`${path}.digest`, sha256(OTHER));
    assert.deepEqual(await pull(), ["manifests", "blobs"]);
    rmSync(`${path}.digest`);
    writeFileSync(path, OTHER);
    assert.deepEqual(await pull(), ["manifests", "blobs"]);
    // Nor one whose manifest says that it is.
    writeFileSync(path, OTHER);
    const layers = [
      { mediaType: "application/vnd.wasm.content.layer.v1+wasm", digest: sha256(OTHER), size: OTHER.length },
    ];
    writeFileSync(`${path}.manifest`, JSON.stringify({ layers }));
    assert.deepEqual(await pull(), ["manifests", "blobs"]);
  });

  test("that another server has put there is asked for once", async (context) => {
    const { pull, path } = await pulled(context);
    await pull();
    for (const suffix of [".digest", ".manifest"]) rmSync(path + suffix);
    assert.deepEqual(await pull(), ["manifests"]);
    assert.deepEqual(await pull(), []);
  });

  test("is not taken from the folder unproved while its registry is in trouble", async (context) => {
    const { registry, digest, pull, path, downloadDirectory } = await pulled(context);
    await pull();
    writeFileSync(path, OTHER);
    rmSync(`${path}.digest`);
    registry.special.set(`/v2/p/manifests/${digest}`, (_, response) => response.writeHead(503).end());
    const modules = fetcher(context, { downloadDirectory, sources: insecure(registry.host) });
    assert.match(await failureOf(modules.fetch(`registry://${registry.host}/p@${digest}`)), /answers 503/);
  });
});

describe("a module that was fetched with a password", () => {
  test("is for those who have it, from the folder too, and no name there tells it", async (context) => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      const isAnn = request.headers.authorization === `Basic ${Buffer.from("ann:s3cret").toString("base64")}`;
      response.writeHead(isAnn ? 200 : 401).end(WASM);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    context.after(() => void server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const downloadDirectory = folder(context);
    const fetch = (login: string) => fetcher(context, { downloadDirectory }).fetch(`http://${login}${host}/x.wasm`);
    assert.equal((await fetch("ann:s3cret@")).digest, sha256(WASM));
    for (const login of ["", "ann:other@", "ann@", "bob:s3cret@", ":s3cret@"])
      assert.match(await failureOf(fetch(login)), /answers 401/, login);
    assert.equal(seen.length, 6);
    assert.equal((await fetch("ann:s3cret@")).digest, sha256(WASM));
    assert.equal(seen.length, 6);
    const names = readdirSync(downloadDirectory, { recursive: true }).join();
    assert.doesNotMatch(names, /ann|s3cret/);
    assert.ok(!names.includes(sha256("ann:s3cret").slice("sha256:".length)), "a digest is quickly guessed");
  });
});
