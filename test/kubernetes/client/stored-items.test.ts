import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MemoryLog } from "../../../src/kubernetes/client/byte-log.js";
import { MAX_STORE_OBJECTS } from "../../../src/kubernetes/client/limits.js";
import { type StoredEntry, StoredItems } from "../../../src/kubernetes/client/stored-items.js";

test("a store holds so many objects and no more", () => {
  const items = new StoredItems({ apiVersion: "v1", kind: "Pod" });
  const put = (i: number) => items.put({ metadata: { name: `p${i}` } });
  for (let i = 0; i < MAX_STORE_OBJECTS; i++) put(i);
  put(0);
  assert.throws(() => put(MAX_STORE_OBJECTS), {
    code: "KUBERNETES_RESOURCE",
    message: /more than 100000 objects of kind Pod/,
  });
});

const IDENTITY = { apiVersion: "v1", kind: "ConfigMap" };
const configMap = (name: string, value: string) => ({ metadata: { name, namespace: "n" }, data: { value } });
const text = (items: StoredItems): string[] => {
  const texts = items.texts();
  return Array.from({ length: texts.count }, (_, index) => Buffer.from(texts.text(index)).toString());
};

describe("the objects of a store", () => {
  test("are told by name, all together and as texts, and are the same while they do not change", () => {
    const items = new StoredItems(IDENTITY);
    items.put(configMap("b", "ü"));
    items.put(configMap("a", "1"));
    assert.equal(items.get("n", "a"), items.get("n", "a"));
    assert.deepEqual(items.get("n", "b"), { ...IDENTITY, ...configMap("b", "ü") });
    assert.equal(items.get("m", "b"), undefined);
    const [all, texts] = [items.all(), items.texts()];
    assert.equal(items.all(), all);
    assert.equal(items.texts(), texts);
    assert.deepEqual(
      text(items),
      all.map((object) => JSON.stringify(object)),
    );
    assert.equal(
      texts.bytes,
      text(items).reduce((sum, each) => sum + Buffer.byteLength(each), 0),
    );
    items.put(configMap("c", "1"));
    assert.equal(items.all()[0], all[0], "what has not changed is not read again");
    assert.equal(items.texts().identity(0), texts.identity(0));
    items.put(configMap("a", "2"));
    assert.notEqual(items.texts().identity(0), texts.identity(0));
    assert.deepEqual(items.all()[0]?.data, { value: "2" });
    items.delete(configMap("a", ""));
    assert.deepEqual(items.all().length, 2);
    assert.deepEqual(Buffer.from(texts.text(0)).toString(), JSON.stringify(all[0]), "texts stay as they were");
  });

  test("that change again and again take no more room than twice theirs, and some", async () => {
    const logs: MemoryLog[] = [];
    const items = new StoredItems(IDENTITY, () => {
      const log = new MemoryLog();
      logs.push(log);
      return log;
    });
    const value = "x".repeat(100_000);
    for (let round = 0; round < 30; round++) {
      for (let i = 0; i < 10; i++) items.put(configMap(`c${i}`, `${round} ${value}`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const used = new Set([...items.entries.values()].map(({ log }: StoredEntry) => log));
    assert.ok(logs.length > 3 && used.size === 1, `${used.size} of ${logs.length} logs`);
    for (const log of used) assert.ok(log.size < 9 * 1024 * 1024, String(log.size));
    assert.deepEqual(
      text(items).map((each) => JSON.parse(each).data.value.slice(0, 3)),
      Array(10).fill("29 "),
    );
  });

  test("stay in order whatever comes and goes", () => {
    const items = new StoredItems(IDENTITY);
    const names = new Set<string>();
    for (let i = 0; i < 1_000; i++) {
      const name = `c${(i * 7919) % 311}`;
      if (names.delete(name)) {
        items.delete(configMap(name, ""));
      } else {
        names.add(name);
        items.put(configMap(name, "1"));
      }
      if (i % 10 > 0) continue;
      const told = items.all().map(({ metadata }) => (metadata as { name: string }).name);
      assert.deepEqual(told, [...names].sort());
      assert.equal(items.texts().count, names.size);
    }
  });

  test("are read with turns for others in between, once for all who want them", async () => {
    const items = new StoredItems(IDENTITY);
    for (let i = 0; i < 1_000; i++) items.put(configMap(`c${i}`, "x".repeat(4_000)));
    assert.equal(items.isRead, false);
    let turns = 0;
    let done = false;
    const others = (): void => {
      if (done) return;
      turns++;
      setImmediate(others);
    };
    others();
    await Promise.all([items.readAll(), items.readAll()]);
    done = true;
    assert.equal(items.isRead, true);
    assert.ok(turns >= 10, `${turns} turns while 4 MB were read`);
    const all = items.all();
    assert.equal(all.length, 1_000);
    assert.equal(items.get("n", "c1"), all[1], "not read a second time");
    items.put(configMap("c1", "1"));
    assert.equal(items.isRead, true, "one that changes is read with all");
    assert.deepEqual(items.all()[1]?.data, { value: "1" });
  });

  test("that can't be read are not moved, and hinder no others", async () => {
    let [broken, begun] = [false, 0];
    const items = new StoredItems(IDENTITY, () => {
      begun++;
      const log = new MemoryLog();
      const read = log.read.bind(log);
      log.read = (at, length) => (broken ? assert.fail("input/output error") : read(at, length));
      return log;
    });
    items.put(configMap("a", "1"));
    broken = true;
    for (let i = 0; i < 100; i++) items.put(configMap("b", "x".repeat(200_000)));
    await new Promise((resolve) => setImmediate(resolve));
    assert.throws(() => items.all(), /input\/output error/);
    assert.equal(begun, 2, "it is not tried again and again");
    broken = false;
    assert.deepEqual(
      items.all().map(({ data }) => (data as { value: string }).value.length),
      [1, 200_000],
    );
  });
});
