import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { orAborted } from "../../src/data/or-aborted.js";

describe("work that may be given up", () => {
  test("gives its own end, and leaves no listener behind", async () => {
    const { signal } = new AbortController();
    assert.equal(await orAborted(Promise.resolve(1), signal, "gone"), 1);
    await assert.rejects(orAborted(Promise.reject(new Error("failed")), signal, "gone"), { message: "failed" });
    await new Promise(setImmediate);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });

  test("is not waited for once the signal is aborted, before or meanwhile; a later failure is nobody's", async () => {
    const gone = new AbortController();
    let fail: (error: Error) => void = () => {};
    const work = new Promise((_, reject) => {
      fail = reject;
    });
    const meanwhile = orAborted(work, gone.signal, "gone");
    gone.abort();
    await assert.rejects(meanwhile, { message: "gone" });
    await assert.rejects(orAborted(new Promise(() => {}), gone.signal, "gone"), { message: "gone" });
    fail(new Error("too late"));
    await new Promise(setImmediate);
  });
});
