/** What a namespace may have in use of modules. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FetchError } from "../../src/fetch/index.js";
import { NamespaceModules } from "../../src/loader/namespace-modules.js";

const module = (digest: string, size: number) => ({ digest, size });

describe("the modules of a namespace", () => {
  test("have twice the size of one policy's together, and another namespace's do not count", () => {
    const inUse = new NamespaceModules();
    inUse.use("a", "p", [module("1", 60), module("2", 40)], 100);
    inUse.use("a", "q", [module("3", 100)], 100);
    assert.throws(
      () => inUse.use("a", "r", [module("4", 1)], 100),
      (error) =>
        error instanceof FetchError &&
        error.transient &&
        error.message === "the modules of namespace a would have 201 bytes together, more than 200" &&
        error.shown === "its namespace has too many modules",
    );
    inUse.use("b", "p", [module("4", 100)], 100);
  });

  test("count once where several policies have the same", () => {
    const inUse = new NamespaceModules();
    for (let i = 0; i < 100; i++) inUse.use("a", `p${i}`, [module("1", 100)], 100);
    inUse.use("a", "q", [module("2", 100)], 100);
    assert.throws(() => inUse.use("a", "r", [module("3", 1)], 100), FetchError);
  });

  test("of a policy's versions count until each is gone: one that fails takes no other out of the count", () => {
    const inUse = new NamespaceModules();
    const first = inUse.use("a", "p", [module("1", 200)], 100);
    const second = inUse.use("a", "p", [module("2", 200)], 100);
    second();
    assert.throws(() => inUse.use("a", "q", [module("3", 1)], 100), FetchError);
    first();
    inUse.use("a", "q", [module("3", 200)], 100);
  });
});
