import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ByteLog } from "../../../../src/kubernetes/client/byte-log.js";
import { findConnection, openCluster, watchedStores } from "../../../../src/kubernetes/client/index.js";
import { MAX_STORE_OBJECTS } from "../../../../src/kubernetes/client/limits.js";
import { FileLog, FileLogReader } from "../../../../src/kubernetes/client/shared/file-log.js";
import { KeptProcess, LogFolder } from "../../../../src/kubernetes/client/shared/keeper.js";
import type { FromKeeper, ToKeeper } from "../../../../src/kubernetes/client/shared/messages.js";
import { MirroredStores } from "../../../../src/kubernetes/client/shared/mirrored-stores.js";
import { clusterWorld } from "../../../../src/world/cluster.js";
import { LookupFailure } from "../../../../src/world/resources/resource-source.js";
import { FakeApiServer, json } from "../fake-api-server.js";
import { names, PATIENT, PODS, pod, until } from "../support.js";

const CONFIG_MAP = { group: "", version: "v1", kind: "ConfigMap" };
const WATCH = "GET /api/v1/pods?watch";

/** A keeper, and processes that it keeps lists for: what they say passes as text, as between processes. */
async function keeper(context: TestContext, newLog?: (folder: LogFolder) => ByteLog) {
  const server = await FakeApiServer.start(context);
  let ahead = 0;
  const now = () => performance.now() + ahead;
  const connection = findConnection({ kubeconfig: server.kubeconfig(), env: {}, now });
  const folder = new LogFolder();
  const make = newLog ?? ((of: LogFolder) => of.newLog());
  const kept = watchedStores({ connection, now, note: () => {}, newLog: () => make(folder) });
  context.after(async () => {
    await kept.close();
    folder.remove();
  });
  const processes: KeptProcess[] = [];
  const open = () => {
    let hear: (message: FromKeeper) => void = () => {};
    const told: FromKeeper[] = [];
    const process = new KeptProcess(kept.stores, (message) => {
      told.push(message);
      const text = JSON.stringify(message);
      setImmediate(() => hear(JSON.parse(text)));
    });
    processes.push(process);
    const cluster = openCluster({
      connection,
      now,
      note: () => {},
      shared: {
        send: (message) => {
          const text = JSON.stringify(message);
          setImmediate(() => process.hear(JSON.parse(text) as ToKeeper));
        },
        listen: (call) => {
          hear = call;
        },
      },
    });
    context.after(() => cluster.close());
    const { resources } = clusterWorld(cluster, now);
    const list = async () => names(await cluster.reader.list(PODS, {}, PATIENT));
    return { cluster, resources, list, process, told };
  };
  const skip = (ms: number): void => {
    ahead += ms;
  };
  const look = (): void => {
    for (const process of processes) process.look();
  };
  return { server, kept, open, look, skip };
}

describe("lists that another process watches", () => {
  test("are asked for and watched once for all, and follow every change", async (context) => {
    const { server, open } = await keeper(context);
    server.put("pods", pod("b"));
    server.put("pods", pod("a"));
    const [one, other] = [open(), open()];
    assert.deepEqual(await Promise.all([one.list(), other.list()]), [
      ["a", "b"],
      ["a", "b"],
    ]);
    await until("the watch", () => server.watching === 1);
    server.put("pods", pod("c", "default", { x: "ü" }));
    server.remove("pods", "a", "default");
    for (const each of [one, other]) await until("the changes", async () => (await each.list()).join() === "b,c");
    const texts = await one.cluster.reader.texts(PODS, {}, PATIENT);
    assert.match(Buffer.from(texts.text(1)).toString(), /"x":"ü"/);
    assert.equal(server.asked("GET /api/v1/pods?limit").length, 1);
    assert.equal(server.asked(WATCH).length, 1);
  });

  test("that are read again as a whole are the new ones everywhere", async (context) => {
    const { server, open } = await keeper(context);
    server.put("pods", pod("a"));
    const { list, told } = open();
    assert.deepEqual(await list(), ["a"]);
    await until("the watch", () => server.watching === 1);
    server.oldest = 1_000;
    server.putUnseen("pods", pod("b"));
    server.cut();
    await until("the second list", async () => (await list()).join() === "a,b");
    assert.equal(told.filter(({ type }) => type === "log").length, 2, "a file for each list");
  });

  test("fail with the API server's words, and are there when they may be had", async (context) => {
    const { server, open, skip } = await keeper(context);
    server.put("pods", pod("a"));
    server.forbidden.add("list pods");
    const { list } = open();
    const refused = { code: "KUBERNETES_API", status: 403, message: /^pods is forbidden/ };
    await assert.rejects(list(), refused);
    server.forbidden.clear();
    await assert.rejects(list(), refused);
    skip(1_001);
    assert.deepEqual(await list(), ["a"]);
  });

  test("that nobody follows any more, or for too long, are asked for anew", async (context) => {
    const { server, kept, open, look, skip } = await keeper(context);
    server.put("pods", pod("a"));
    const { list } = open();
    assert.deepEqual(await list(), ["a"]);
    kept.stores.close();
    server.putUnseen("pods", pod("b"));
    look();
    skip(1_000);
    await until("the new list", async () => (await list().catch(() => [])).join() === "a,b");
  });

  test("are not believed for a moment when they are too old", async (context) => {
    const { server, open, look, skip } = await keeper(context);
    for (let i = 0; i < 2_000; i++) server.put("pods", pod(`p${i}`));
    server.forbidden.add("watch pods");
    const [{ list, told }, other] = [open(), open()];
    assert.equal((await list()).length, 2_000);
    await until("the refusal", () => server.asked(WATCH).length > 0);
    await until("the end of the watch", async () => {
      skip(100);
      look();
      return told.some(({ type }) => type === "problem");
    });
    await nextTurn();
    const sent = told.length;
    for (let i = 0; i < 3; i++) {
      skip(201);
      await assert.rejects(list(), /cannot watch resource "pods"/);
    }
    await assert.rejects(other.list(), /cannot watch resource "pods"/);
    assert.equal(told.length - sent, 3, "nothing but the problem is told");
    assert.equal(server.asked("GET /api/v1/pods?limit").length, 8);
  });

  test("are there again when contact is", async (context) => {
    const { server, open, look, skip } = await keeper(context);
    server.put("pods", pod("a"));
    const [one, other] = [open(), open()];
    assert.deepEqual(await one.list(), ["a"]);
    await until("the watch", () => server.watching === 1);
    skip(300_001);
    look();
    await until("the problem", () => one.told.some(({ type }) => type === "problem"));
    await nextTurn();
    // On a busy machine the contact may be there again by itself.
    const refusals = await Promise.all([one, other].map((each) => each.list().catch(String)));
    for (const said of refusals) assert.match(said.toString(), /^a$|no contact to the API server for too long/);
    server.put("pods", pod("b"));
    for (const each of [one, other]) {
      await until("the contact", async () => (await each.list().catch(() => [])).join() === "a,b");
    }
  });

  test("stay where they are when there is no more room for files", async (context) => {
    let full = false;
    const { server, open, look } = await keeper(context, (folder) => {
      const log = folder.newLog();
      const append = log.append.bind(log);
      log.append = (bytes) => (full ? assert.fail("no space left on device") : append(bytes));
      return log;
    });
    server.put("pods", pod("a"));
    const { list, told } = open();
    assert.deepEqual(await list(), ["a"]);
    await until("the watch", () => server.watching === 1);
    full = true;
    server.put("pods", pod("b"));
    await until("the change", async () => (await list()).join() === "a,b");
    look();
    assert.ok(told.some(({ type }) => type === "log"));
    assert.ok(told.every(({ type }) => type !== "log-gone"));
  });

  test("let their files go when they are given up before they are there", async (context) => {
    let [begun, closed] = [0, 0];
    const { server, kept, open } = await keeper(context, (folder) => {
      const log = folder.newLog();
      begun++;
      log.close = () => {
        closed++;
      };
      return log;
    });
    let release = (): void => {};
    server.special.set("/api/v1/pods", (_, response) => {
      release = () => json(response, 200, { metadata: { resourceVersion: "1" }, items: [pod("a")] });
    });
    const { list } = open();
    const listed = list();
    await until("the question", () => server.asked("GET /api/v1/pods?limit").length === 1);
    kept.stores.close();
    release();
    assert.deepEqual(await listed, ["a"], "who waits for it gets it");
    assert.deepEqual([begun, closed], [1, 1]);
  });

  test("of objects by name are told of a new state together", async (context) => {
    const { server, open } = await keeper(context);
    const put = (name: string) => server.put("configmaps", { metadata: { name, namespace: "n" } });
    const resource = { ...CONFIG_MAP, plural: "configmaps", namespaced: true };
    put("a");
    const [one, other] = [open(), open()];
    await other.cluster.stores.of(resource, { namespace: "" }).all();
    await until("the watch", () => server.watching === 1);
    const stores = ["a", "b", "c"].map((name) => one.cluster.stores.named(resource, "n", name));
    for (const store of stores) await store.contents();
    one.told.length = 0;
    put("d");
    await until("the state", () => stores.every(({ version }) => version === "102"));
    assert.deepEqual(one.told, [{ type: "state", ids: [1, 2, 3], version: "102" }]);
  });

  test("of one object by name send that object, whatever is watched for it", async (context) => {
    const { server, open } = await keeper(context);
    const value = 9007199254740993n;
    const put = (name: string, data: string) => server.put("configmaps", { metadata: { name, namespace: "n" }, data });
    put("a", "1");
    put("b", "1");
    const [one, other] = [open(), open()];
    await other.cluster.stores.of({ ...CONFIG_MAP, plural: "configmaps", namespaced: true }, { namespace: "" }).all();
    const get = async () => {
      const found = await one.resources.get(CONFIG_MAP, "n", "a");
      assert.ok(!(found instanceof LookupFailure));
      return found?.data;
    };
    assert.equal(await get(), "1");
    await until("the object", () => one.told.some(({ type }) => type === "state"));
    put("a", String(value));
    put("b", "2");
    await until("the change", async () => (await get()) === String(value));
    server.requests.length = 0;
    assert.equal(await get(), String(value));
    assert.deepEqual(server.requests, []);
    const keys = one.told.flatMap((message) => (message.type === "entries" ? message.put.map(([key]) => key) : []));
    assert.deepEqual(new Set(keys), new Set(["n\0a"]));
  });

  test("are told as texts where there is no room for files", async (context) => {
    const full = {
      size: 0,
      append: () => assert.fail("no space left on device"),
      read: () => assert.fail("nothing was written"),
      close: () => {},
    };
    const { server, open } = await keeper(context, () => full);
    server.put("pods", pod("a"));
    const { list, told } = open();
    assert.deepEqual(await list(), ["a"]);
    assert.ok(told.every(({ type }) => type !== "log"));
  });

  test("that a process has closed are not told to it", async (context) => {
    const { server, open } = await keeper(context);
    const { list, process, told } = open();
    await list();
    await until("the watch", () => server.watching === 1);
    process.end();
    const before = told.length;
    const { list: another } = open();
    server.put("pods", pod("a"));
    await until("the change", async () => (await another()).length === 1);
    assert.equal(told.length, before);
  });
});

test("a list takes what goes before what comes: it may be as long as one can be", () => {
  let hear: (message: FromKeeper) => void = () => {};
  const listen = (call: typeof hear): void => {
    hear = call;
  };
  const stores = new MirroredStores({ send: () => {}, listen }, { max: 1 }, () => 0);
  const store = stores.of({ ...CONFIG_MAP, plural: "configmaps", namespaced: true }, { namespace: "" });
  const entry = (i: number) => [`\0c${i}`, JSON.stringify({ metadata: { name: `c${i}` } })] as const;
  const put = Array.from({ length: MAX_STORE_OBJECTS }, (_, i) => entry(i));
  hear({ type: "entries", id: 1, anew: true, put, gone: [] });
  hear({ type: "entries", id: 1, anew: false, put: [entry(-1)], gone: ["\0c0"] });
  hear({ type: "state", ids: [1], version: "1" });
  assert.equal(store.items?.texts().count, MAX_STORE_OBJECTS);
  stores.close();
});

describe("files of lists", () => {
  test("are opened when they are needed: there may be too many open ones before", () => {
    const folder = new LogFolder();
    const { place } = folder.newLog();
    const reader = new FileLogReader({ ...place, path: `${place.path}-later` });
    assert.throws(() => reader.read(0, 1), { code: "ENOENT" });
    const written = new FileLog({ ...place, path: `${place.path}-later` });
    assert.equal(reader.read(written.append(Buffer.from("x")), 1).toString(), "x");
    folder.remove();
  });

  test("are not touched after their end, when their numbers may be those of others", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const folder = new LogFolder();
    const log = folder.newLog();
    const reader = new FileLogReader(log.place);
    const at = log.append(Buffer.from("x"));
    assert.equal(reader.read(at, 1).toString(), "x");
    log.close();
    reader.close();
    context.mock.timers.tick(60_000);
    for (const call of [() => log.read(at, 1), () => log.append(Buffer.from("y")), () => reader.read(at, 1)]) {
      assert.throws(call, /not there any more/);
    }
    folder.remove();
  });

  test("that a killed process has left are removed by the next", () => {
    const prefix = join(tmpdir(), `policy-server-lists-${hostname()}-`);
    const [left, others] = [mkdtempSync(`${prefix}999999999-`), mkdtempSync(`${prefix}${process.ppid}-`)];
    const folder = new LogFolder();
    assert.deepEqual([existsSync(left), existsSync(others)], [false, true]);
    folder.remove();
    rmdirSync(others);
  });

  test("say nothing to others, and go with the folder", () => {
    const folder = new LogFolder();
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("policy-server-"));
    const log = folder.newLog();
    const secret = Buffer.from('{"data":{"password":"hunter2"}}');
    const places = [log.append(secret), log.append(Buffer.from("second")), log.append(secret)];
    assert.deepEqual(log.read(places[2] ?? 0, secret.length), secret);
    const reader = new FileLogReader(log.place);
    assert.equal(reader.read(places[1] ?? 0, 6).toString(), "second");
    const written = readFileSync(log.place.path);
    assert.ok(!written.includes("hunter2"));
    assert.notDeepEqual(written.subarray(0, secret.length), written.subarray(places[2]), "not twice alike");
    assert.equal(statSync(log.place.path).mode & 0o777, 0o600);
    assert.equal(statSync(join(log.place.path, "..")).mode & 0o777, 0o700);
    log.close();
    assert.equal(reader.read(places[0] ?? 0, secret.length).toString(), secret.toString(), "who has begun may go on");
    reader.close();
    folder.remove();
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith("policy-server-"));
    assert.equal(after.length, before.length - 1);
  });
});
