import assert from "node:assert/strict";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { FolderBound } from "../../src/fetch/folder-bound.js";
import { ABANDONED_MS, PASSING_BYTES } from "../../src/fetch/limits.js";
import { folder } from "./helpers.js";

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

/** A download folder of 100 bytes. */
class Kept {
  readonly root: string;
  readonly bound: FolderBound;

  constructor(context: TestContext) {
    this.root = folder(context);
    this.bound = new FolderBound(this.root, 100, () => NOW);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** A file that was used so many minutes ago. */
  put(name: string, bytes: number, minutes: number, beside: readonly string[] = [".digest"]): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.alloc(bytes));
    for (const suffix of beside) writeFileSync(path + suffix, "x");
    const at = (NOW - minutes * MINUTE) / 1000;
    utimesSync(path, at, at);
    return path;
  }

  has(...names: readonly string[]): boolean[] {
    return names.map((name) => existsSync(this.path(name)));
  }
}

describe("the bound of a download folder", () => {
  test("what was not used for longest goes first, with what lies beside it, and no more than is needed", async (context) => {
    const kept = new Kept(context);
    kept.put("https/h/new.wasm", 40, 1);
    kept.put("registry/r/old:v1", 30, 9, [".digest", ".manifest"]);
    kept.put("http/h/older.wasm", 20, 99);
    await kept.bound.pin(kept.path("registry/r/next:v1"));
    assert.equal(await kept.bound.place(kept.path("registry/r/next:v1"), 30, "kept"), true);
    assert.deepEqual(kept.has("http/h/older.wasm", "http/h/older.wasm.digest"), [false, false]);
    assert.deepEqual(kept.has("registry/r/old:v1", "https/h/new.wasm"), [true, true]);
    assert.equal(await kept.bound.place(kept.path("registry/r/third:v1"), 30, "kept"), true);
    const gone = ["registry/r/old:v1", "registry/r/old:v1.digest", "registry/r/old:v1.manifest"];
    assert.deepEqual(kept.has(...gone, "https/h/new.wasm"), [false, false, false, true]);
  });

  test("what is in use stays, as long as anybody uses it", async (context) => {
    const kept = new Kept(context);
    const served = kept.put("registry/r/served:v1", 60, 99);
    const [first, second] = [await kept.bound.pin(served), await kept.bound.pin(served)];
    assert.equal(await kept.bound.place(kept.path("https/h/x.wasm"), 50, "kept"), false);
    first();
    first();
    assert.equal(await kept.bound.place(kept.path("https/h/x.wasm"), 50, "kept"), false);
    assert.deepEqual(kept.has("registry/r/served:v1"), [true]);
    second();
    assert.equal(await kept.bound.place(kept.path("https/h/x.wasm"), 50, "kept"), true);
    assert.deepEqual(kept.has("registry/r/served:v1"), [false]);
  });

  test("an operator's modules have room also where there is none", async (context) => {
    const kept = new Kept(context);
    await kept.bound.pin(kept.put("registry/r/served:v1", 60, 99));
    kept.put("registry/r/unused:v1", 30, 1);
    assert.equal(await kept.bound.place(kept.path("https/h/x.wasm"), 500, "always"), true);
    assert.deepEqual(kept.has("registry/r/served:v1", "registry/r/unused:v1"), [true, false]);
  });

  test("what was given room counts before it is there, as long as somebody brings it", async (context) => {
    const kept = new Kept(context);
    const [one, two] = [kept.path("https/h/1.wasm"), kept.path("https/h/2.wasm")];
    const bringing = await kept.bound.pin(one);
    assert.equal(await kept.bound.place(one, 60, "kept"), true);
    assert.equal(await kept.bound.place(two, 60, "kept"), false);
    bringing();
    assert.equal(await kept.bound.place(two, 60, "kept"), true);
  });

  test("what goes when it is loaded has a bound of its own, for as long as it is there", async (context) => {
    const { bound } = new Kept(context);
    const [one, two] = ["/a.part", "/b.part"];
    const loading = await bound.pin(one);
    await bound.pin(two);
    assert.equal(await bound.place(one, PASSING_BYTES, "passing"), true);
    assert.equal(await bound.place(two, 1, "passing"), false);
    loading();
    assert.equal(await bound.place(two, 1, "passing"), true);
    assert.equal(await bound.place(one, PASSING_BYTES, "passing"), false);
  });

  test("a file that takes the place of its earlier version counts once", async (context) => {
    const kept = new Kept(context);
    const path = kept.put("registry/r/p:latest", 80, 1);
    await kept.bound.pin(path);
    assert.equal(await kept.bound.place(path, 90, "kept"), true);
  });

  test("what no server or command has put there is nobody's to remove", async (context) => {
    const kept = new Kept(context);
    kept.put("registry/r/of-another-server:v1", 90, 99, []);
    kept.put("http/notes.txt", 90, 99, []);
    kept.put("src/main.wasm", 90, 99);
    assert.equal(await kept.bound.place(kept.path("https/h/x.wasm"), 90, "kept"), true);
    assert.deepEqual(kept.has("registry/r/of-another-server:v1", "http/notes.txt", "src/main.wasm"), [
      true,
      true,
      true,
    ]);
  });

  test("what is being written is left alone until its writer must have gone", async (context) => {
    const kept = new Kept(context);
    kept.put("https/h/x.wasm.1.part", 90, 1, []);
    kept.put("https/h/y.wasm.2.part", 90, ABANDONED_MS / MINUTE + 1, []);
    assert.equal(await kept.bound.place(kept.path("https/h/z.wasm"), 90, "kept"), true);
    assert.deepEqual(kept.has("https/h/x.wasm.1.part", "https/h/y.wasm.2.part"), [true, false]);
  });
});
