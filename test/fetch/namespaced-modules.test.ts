/** What modules of policies in namespaces may cost: sizes, places, turns. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, utimesSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { createModuleFetcher, type ModuleFetcherOptions, type ModuleLimits } from "../../src/fetch/module-fetcher.js";
import { localModuleShare } from "../../src/fetch/module-share.js";
import { until } from "../support/until.js";
import { failureOf, fetcher, folder, insecure, WASM } from "./helpers.js";
import { sha256, TestRegistry } from "./test-registry.js";

const TEAM = { namespace: "team", maxBytes: 64 } as const;
const LARGE = Buffer.concat([WASM, Buffer.alloc(64)]);

async function serving(context: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that answers when it is told to; `asked` has what waits, by path. */
async function patient(context: TestContext) {
  const asked = new Map<string, ServerResponse[]>();
  const host = await serving(context, (request, response) => {
    const path = request.url ?? "";
    asked.set(path, [...(asked.get(path) ?? []), response]);
  });
  const wait = async (count: number): Promise<void> => {
    await until("the requests", () => [...asked.values()].flat().length >= count);
    // More would have come by now.
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  return { host, asked, wait };
}

describe("the size of modules of policies in namespaces", () => {
  test("one that is announced too large is not waited for", async (context) => {
    const { host, asked, wait } = await patient(context);
    const modules = fetcher(context);
    const failure = failureOf(modules.file(`http://${host}/x.wasm`, TEAM));
    await wait(1);
    // No byte of the body ever comes.
    asked.get("/x.wasm")?.[0]?.writeHead(200, { "content-length": 65 }).flushHeaders();
    assert.match(await failure, /is larger than 64 bytes/);
  });

  test("one that is not announced ends where it is too large", async (context) => {
    let ended = false;
    const host = await serving(context, (_, response) => {
      response.write(WASM);
      const more = setInterval(() => response.write(Buffer.alloc(16)), 1);
      response.on("close", () => {
        clearInterval(more);
        ended = true;
      });
    });
    const downloadDirectory = folder(context);
    const modules = fetcher(context, { downloadDirectory });
    assert.match(await failureOf(modules.file(`http://${host}/x.wasm`, TEAM)), /is larger than 64 bytes/);
    await until("the end", () => ended);
    assert.ok(ended);
    // Nor does it leave folders behind.
    await until("an empty folder", () => readdirSync(downloadDirectory).length === 0);
    assert.deepEqual(readdirSync(downloadDirectory, { recursive: true }), []);
  });

  test("a layer that is too large is not asked for, nor taken from what an operator's policy has fetched", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.pushModule("p", "v1", LARGE);
    const downloadDirectory = folder(context);
    const location = `registry://${registry.host}/p:v1`;
    const ask = () => fetcher(context, { downloadDirectory, sources: insecure(registry.host) }).file(location, TEAM);
    assert.match(await failureOf(ask()), /has 76 bytes, more than 64/);
    assert.deepEqual(registry.requests, ["GET /v2/p/manifests/v1"]);
    await fetcher(context, { downloadDirectory, sources: insecure(registry.host) }).file(location);
    assert.match(await failureOf(ask()), /has 76 bytes, more than 64/);
  });
});

describe("turns of modules of policies in namespaces", () => {
  test("a namespace whose servers are slow holds up no other, and several fetchers have one bound", async (context) => {
    const { host, asked, wait } = await patient(context);
    const mib = 1024 * 1024;
    const share = localModuleShare();
    const [one, two] = [fetcher(context, { share }), fetcher(context, { share })];
    const limits = (namespace: string): ModuleLimits => ({ namespace, maxBytes: 32 * mib });
    const slow = [one, two].flatMap((modules, at) =>
      [0, 1, 2].map((i) => modules.file(`http://${host}/slow-${at}-${i}.wasm`, limits("slow"))),
    );
    await wait(2);
    assert.equal(asked.size, 2);
    const honest = one.file(`http://${host}/honest.wasm`, limits("honest"));
    await wait(3);
    assert.equal(asked.size, 3);
    asked.get("/honest.wasm")?.[0]?.end(WASM);
    assert.equal((await honest).size, WASM.length);
    let fetched = 0;
    for (const each of slow) void each.then(() => fetched++);
    await until("the modules", () => {
      for (const response of [...asked.values()].flat()) if (!response.writableEnded) response.end(WASM);
      return fetched === slow.length;
    });
  });

  test("an address is fetched once by all that share, and then found", async (context) => {
    const { host, asked, wait } = await patient(context);
    const downloadDirectory = folder(context);
    const share = localModuleShare();
    const files = [1, 2, 3].map(() =>
      fetcher(context, { downloadDirectory, share }).file(`http://${host}/x.wasm`, TEAM),
    );
    await wait(1);
    assert.equal(asked.get("/x.wasm")?.length, 1);
    asked.get("/x.wasm")?.[0]?.end(WASM);
    assert.deepEqual(
      (await Promise.all(files)).map(({ digest }) => digest),
      [sha256(WASM), sha256(WASM), sha256(WASM)],
    );
    assert.equal(asked.get("/x.wasm")?.length, 1);
  });

  test("modules are held in memory by so many bytes at a time, a namespace's by half of that", async (context) => {
    const modules = fetcher(context);
    const mib = 1024 * 1024;
    const leave = await modules.memory(20 * mib, "team");
    let second = false;
    const waiting = modules.memory(20 * mib, "team").then((release) => {
      second = true;
      release();
    });
    const other = await modules.memory(20 * mib, "other");
    assert.equal(second, false);
    other();
    leave();
    await waiting;
  });

  test("what has no room in a folder of modules that are in use is read, and then removed", async (context) => {
    const host = await serving(context, (_, response) => response.end(WASM));
    const downloadDirectory = folder(context);
    const share = localModuleShare(20);
    const warnings: string[] = [];
    const options: ModuleFetcherOptions = {
      ...{ downloadDirectory, share, environment: { HOME: "/nonexistent" } },
      warn: (message) => warnings.push(message),
    };
    const first = fetcher(context, options);
    await first.file(`http://${host}/a.wasm`, TEAM);
    const second = createModuleFetcher(options);
    const passing = await second.file(`http://${host}/b.wasm`, TEAM);
    assert.deepEqual(Buffer.from(await passing.read()), WASM);
    await second.close();
    assert.match(warnings.join(), /b\.wasm is not kept: the download folder is full of modules that are in use/);
    assert.deepEqual(readdirSync(join(downloadDirectory, "http", host)).sort(), ["a.wasm", "a.wasm.digest"]);
    const file = join(downloadDirectory, "http", host, "a.wasm");
    utimesSync(file, 0, 0);
    const third = fetcher(context, options);
    await third.file(`http://${host}/c.wasm`, TEAM);
    assert.deepEqual(readdirSync(join(downloadDirectory, "http", host)).sort(), ["c.wasm", "c.wasm.digest"]);
  });
});

test("what can't be kept, since another module has the name of its folder, passes beside it", async (context) => {
  const host = await serving(context, (_, response) => response.end(WASM));
  const downloadDirectory = folder(context);
  const passing = (): number =>
    readdirSync(join(downloadDirectory, "http")).filter((name) => /part$/.test(name)).length;
  const warnings: string[] = [];
  const modules = createModuleFetcher({
    ...{ downloadDirectory, environment: { HOME: "/nonexistent" } },
    share: localModuleShare(1_000),
    warn: (message) => warnings.push(message),
  });
  await modules.file(`http://${host}/a`, TEAM);
  const file = await modules.file(`http://${host}/a/b.wasm`, TEAM);
  assert.match(warnings.join(), /cannot keep .* in the download folder: /);
  assert.equal(passing(), 1);
  assert.deepEqual(Buffer.from(await file.read()), WASM);
  await modules.close();
  assert.equal(passing(), 0);
});

test("where the download folder can't be written, modules pass in the system's; those of operators in memory at last", async (context) => {
  const host = await serving(context, (_, response) => response.end(WASM));
  const [temporary, before] = [folder(context, { file: "" }), process.env.TMPDIR];
  process.env.TMPDIR = temporary;
  context.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const warnings: string[] = [];
  const passing = (): string[] =>
    readdirSync(temporary, { recursive: true })
      .map(String)
      .filter((name) => /part$/.test(name));
  const modules = createModuleFetcher({
    ...{ downloadDirectory: join(temporary, "file"), environment: { HOME: "/nonexistent" } },
    warn: (message) => warnings.push(message),
  });
  for (const limits of [TEAM, {}]) {
    const file = await modules.file(`http://${host}/a.wasm`, limits);
    assert.deepEqual(Buffer.from(await file.read()), WASM);
  }
  assert.match(warnings.join(), /cannot keep .* in the download folder: /);
  assert.equal(passing().length, 2);
  // Of others nobody knows how many there will be.
  process.env.TMPDIR = join(temporary, "file");
  assert.match(await failureOf(modules.file(`http://${host}/c.wasm`, TEAM)), /there is no folder to write it to/);
  const own = await modules.file(`http://${host}/c.wasm`);
  assert.deepEqual(Buffer.from(await own.read()), WASM);
  await modules.close();
  assert.deepEqual(passing(), []);
});

describe("places of modules of policies in namespaces", () => {
  /** A registry below whose `acme` modules may be, and another one. */
  async function two(context: TestContext, login: "none" | "bearer" = "none") {
    const registry = await TestRegistry.start(context, { login, ...(login === "bearer" && { user: "ann:s3cret" }) });
    const other = await TestRegistry.start(context);
    for (const each of [registry, other]) each.pushModule("acme/p", "v1", WASM);
    const auth = Buffer.from("ann:s3cret").toString("base64");
    const config = JSON.stringify({ auths: { [registry.host]: { auth }, [other.host]: { auth } } });
    const seen: (string | undefined)[] = [];
    const modules = fetcher(context, {
      sources: insecure(registry.host, other.host),
      dockerConfigDirectory: folder(context, { "config.json": config }),
    });
    const places = [`${registry.host}/acme`, `http://${registry.host}/files`];
    const ask = (address: string, more: readonly string[] = []) =>
      modules.file(address, { ...TEAM, places: [...places, ...more] });
    const lead = (path: string, to: string): void => {
      registry.special.set(path, (request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(307, { location: to }).end();
      });
    };
    return { registry, other, ask, lead, seen };
  }

  test("hold for the address", async (context) => {
    const { registry, other, ask } = await two(context);
    assert.equal((await ask(`registry://${registry.host}/acme/p:v1`)).digest, sha256(WASM));
    const failure = await failureOf(ask(`registry://${other.host}/acme/p:v1`));
    assert.match(failure, /is not below a place for modules of namespaced policies/);
    assert.deepEqual(other.requests, []);
  });

  test("hold for where a tag leads", async (context) => {
    const { registry, other, ask, lead } = await two(context);
    lead("/v2/acme/p/manifests/v1", `http://${other.host}/v2/acme/p/manifests/v1`);
    assert.match(await failureOf(ask(`registry://${registry.host}/acme/p:v1`)), /redirects to .* not below a place/);
    assert.deepEqual(other.requests, []);
    lead("/v2/acme/q/manifests/v1", `http://${registry.host}/v2/acme/s/manifests/v1`);
    registry.pushModule("acme/s", "v1", WASM);
    assert.equal((await ask(`registry://${registry.host}/acme/q:v1`)).digest, sha256(WASM));
    lead("/v2/acme/r/manifests/v1", `http://${registry.host}/v2/other/p/manifests/v1`);
    assert.match(await failureOf(ask(`registry://${registry.host}/acme/r:v1`)), /redirects to .* not below a place/);
  });

  test("hold for where a manifest with a digest leads, and not for a blob, which gets no credentials", async (context) => {
    const { registry, other, ask, lead } = await two(context, "bearer");
    const digest = sha256(registry.manifests.get("acme/p:v1") ?? "");
    let authorization: string | undefined = "nothing";
    other.special.set("/storage", (request, response) => {
      authorization = request.headers.authorization;
      response.end(WASM);
    });
    lead(`/v2/acme/p/blobs/${sha256(WASM)}`, `http://${other.host}/storage`);
    assert.equal((await ask(`registry://${registry.host}/acme/p@${digest}`)).digest, sha256(WASM));
    assert.equal(authorization, undefined);
    lead(`/v2/acme/p/manifests/${digest}`, `http://${other.host}/v2/acme/p/manifests/${digest}`);
    const failure = await failureOf(ask(`registry://${registry.host}/acme/p:v2@${digest}`));
    assert.match(failure, /redirects to .* not below a place/);
    assert.deepEqual(other.requests, ["GET /storage"]);
  });

  test("hold for token services, which get no credentials elsewhere", async (context) => {
    const { registry, other, ask } = await two(context, "bearer");
    assert.equal((await ask(`registry://${registry.host}/acme/p:v1`)).digest, sha256(WASM));
    registry.special.set("/v2/acme/q/manifests/v1", (_, response) =>
      response
        .writeHead(401, { "www-authenticate": `Bearer realm="http://${other.host}/token",service="test",scope="x"` })
        .end(),
    );
    const failure = await failureOf(ask(`registry://${registry.host}/acme/q:v1`));
    assert.match(failure, /names the token service .*, which is not below a place/);
    assert.deepEqual(other.requests, []);
    await failureOf(ask(`registry://${registry.host}/acme/q:v1`, [`http://${other.host}/token`]));
    assert.deepEqual(other.requests, ["GET /token"]);
  });

  test("hold for where a token service leads", async (context) => {
    const { registry, other, ask, lead, seen } = await two(context, "bearer");
    lead("/token", `http://${other.host}/token`);
    assert.match(await failureOf(ask(`registry://${registry.host}/acme/p:v1`)), /redirects to .* not below a place/);
    assert.equal(seen.length, 1);
    assert.deepEqual(other.requests, []);
  });

  test("hold for where a server leads", async (context) => {
    const { registry, other, ask, lead } = await two(context);
    other.special.set("/x.wasm", (_, response) => response.end(WASM));
    registry.special.set("/files/y.wasm", (_, response) => response.end(WASM));
    lead("/files/x.wasm", `http://${other.host}/x.wasm`);
    assert.match(await failureOf(ask(`http://${registry.host}/files/x.wasm`)), /redirects to .* not below a place/);
    assert.deepEqual(other.requests, []);
    lead("/files/z.wasm", "/files/y.wasm");
    assert.equal((await ask(`http://${registry.host}/files/z.wasm`)).digest, sha256(WASM));
    lead("/files/w.wasm", "/elsewhere/y.wasm");
    assert.match(await failureOf(ask(`http://${registry.host}/files/w.wasm`)), /redirects to .* not below a place/);
  });

  test("hold for nobody else", async (context) => {
    const registry = await TestRegistry.start(context);
    const other = await TestRegistry.start(context);
    other.pushModule("p", "v1", WASM);
    registry.special.set("/v2/p/manifests/v1", (_, response) =>
      response.writeHead(307, { location: `http://${other.host}/v2/p/manifests/v1` }).end(),
    );
    registry.blobs.set(sha256(WASM), WASM);
    const downloadDirectory = folder(context);
    const modules = fetcher(context, { downloadDirectory, sources: insecure(registry.host, other.host) });
    assert.equal((await modules.fetch(`registry://${registry.host}/p:v1`)).digest, sha256(WASM));
    assert.ok(existsSync(join(downloadDirectory, "registry", registry.host, "p:v1")));
  });
});
