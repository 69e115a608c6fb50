import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { FilesInUse, makeRoom } from "../../src/fetch/folder-bound.js";
import { ABANDONED_MS, IN_USE_MS, PASSING_BYTES } from "../../src/fetch/limits.js";
import { folder } from "./helpers.js";

const MINUTE = 60_000;

/** A download folder of 100 bytes. */
class Kept {
  readonly root: string;

  constructor(context: TestContext) {
    this.root = folder(context);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** A file that was used so many minutes ago. */
  put(name: string, bytes: number, minutes: number, beside: readonly string[] = [".digest"]): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    truncateSync(path, bytes);
    for (const suffix of beside) writeFileSync(path + suffix, "x");
    const at = (Date.now() - minutes * MINUTE) / 1000;
    utimesSync(path, at, at);
    return path;
  }

  /** Room for a file that has just been written. */
  place(name: string, bytes: number, isNeeded = false) {
    const path = this.put("https/new.part", bytes, 0, []);
    return makeRoom(this.root, { path, size: bytes, digest: "" }, this.path(name), 100, isNeeded);
  }

  has(...names: readonly string[]): boolean[] {
    return names.map((name) => existsSync(this.path(name)));
  }
}

describe("the bound of a download folder", () => {
  test("what was not used for longest goes first, with what lies beside it, and no more than is needed", async (context) => {
    const kept = new Kept(context);
    kept.put("https/h/new.wasm", 40, 2);
    kept.put("registry/r/old:v1", 30, 9, [".digest", ".manifest"]);
    kept.put("http/h/older.wasm", 20, 99);
    assert.equal(await kept.place("registry/r/next:v1", 30), "kept");
    assert.deepEqual(kept.has("http/h/older.wasm", "http/h/older.wasm.digest", "http/h"), [false, false, false]);
    assert.deepEqual(kept.has("registry/r/old:v1", "https/h/new.wasm"), [true, true]);
    assert.equal(await kept.place("registry/r/third:v1", 60), "kept");
    const gone = ["registry/r/old:v1", "registry/r/old:v1.digest", "registry/r/old:v1.manifest"];
    assert.deepEqual(kept.has(...gone, "https/h/new.wasm"), [false, false, false, true]);
  });

  test("what is in use stays, as long as any process says so, whatever clocks say", async (context) => {
    const kept = new Kept(context);
    for (const minutes of [0, 0.5, -0.5]) {
      kept.put("registry/r/served:v1", 60, minutes);
      assert.equal(await kept.place("https/h/x.wasm", 50), "passing");
      assert.deepEqual(kept.has("registry/r/served:v1"), [true]);
    }
    // The clock was set back by a day.
    kept.put("registry/r/served:v1", 60, -1440);
    assert.equal(await kept.place("https/h/x.wasm", 50), "kept");
    assert.deepEqual(kept.has("registry/r/served:v1"), [false]);
  });

  test("a process says what it uses, as long as anybody there holds it", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const path = new Kept(context).put("registry/r/served:v1", 60, 99);
    const inUse = new FilesInUse();
    const isTold = async (): Promise<boolean> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      utimesSync(path, 0, 0);
      context.mock.timers.tick(IN_USE_MS / 2);
      for (let i = 0; i < 20 && statSync(path).mtimeMs === 0; i++)
        await new Promise((resolve) => setTimeout(resolve, 20));
      return statSync(path).mtimeMs > 0;
    };
    const [first, second] = [inUse.hold(path), inUse.hold(path)];
    assert.equal(await isTold(), true);
    first();
    first();
    assert.equal(await isTold(), true);
    second();
    assert.equal(await isTold(), false);
    inUse.hold(path);
    assert.equal(await isTold(), true);
  });

  test("an operator's modules have room also where there is none", async (context) => {
    const kept = new Kept(context);
    kept.put("registry/r/served:v1", 60, 0);
    kept.put("registry/r/unused:v1", 30, 2);
    assert.equal(await kept.place("https/h/x.wasm", 500, true), "kept");
    assert.deepEqual(kept.has("registry/r/served:v1", "registry/r/unused:v1"), [true, false]);
  });

  test("what is under way counts before it is there", async (context) => {
    const kept = new Kept(context);
    kept.put("https/other.part", 60, 1, []);
    assert.equal(await kept.place("https/h/2.wasm", 60), "passing");
    assert.equal(await kept.place("https/h/2.wasm", 40), "kept");
  });

  test("what goes when it is loaded has a bound, together with what is under way", async (context) => {
    const kept = new Kept(context);
    kept.put("http/passing.part", PASSING_BYTES - 110, 1, []);
    assert.equal(await kept.place("https/h/x.wasm", 110), "passing");
    assert.equal(await kept.place("https/h/x.wasm", 111), "full");
  });

  test("a file that takes the place of its earlier version counts once", async (context) => {
    const kept = new Kept(context);
    kept.put("registry/r/p:latest", 80, 0);
    assert.equal(await kept.place("registry/r/p:latest", 90), "kept");
  });

  test("what no server or command has put there is nobody's to remove", async (context) => {
    const kept = new Kept(context);
    kept.put("registry/r/of-another-server:v1", 90, 99, []);
    kept.put("http/notes.txt", 90, 99, []);
    kept.put("src/main.wasm", 90, 99);
    assert.equal(await kept.place("https/h/x.wasm", 90), "kept");
    assert.deepEqual(kept.has("registry/r/of-another-server:v1", "http/notes.txt", "src/main.wasm"), [
      true,
      true,
      true,
    ]);
  });

  test("what is being written is left alone until its writer must have gone", async (context) => {
    const kept = new Kept(context);
    kept.put("https/1.part", 5, 2, []);
    kept.put("https/2.part", 90, ABANDONED_MS / MINUTE + 1, []);
    assert.equal(await kept.place("https/h/z.wasm", 90), "kept");
    assert.deepEqual(kept.has("https/1.part", "https/2.part"), [true, false]);
  });
});
