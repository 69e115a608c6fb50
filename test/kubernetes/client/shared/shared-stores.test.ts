import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { ByteLog } from "../../../../src/kubernetes/client/byte-log.js";
import { findConnection, openCluster, watchedStores } from "../../../../src/kubernetes/client/index.js";
import { FileLogReader } from "../../../../src/kubernetes/client/shared/file-log.js";
import { KeptProcess, LogFolder } from "../../../../src/kubernetes/client/shared/keeper.js";
import type { FromKeeper, ToKeeper } from "../../../../src/kubernetes/client/shared/messages.js";
import { clusterWorld } from "../../../../src/world/cluster.js";
import { LookupFailure } from "../../../../src/world/resources/resource-source.js";
import { FakeApiServer } from "../fake-api-server.js";
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

describe("files of lists", () => {
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
