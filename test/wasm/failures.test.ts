/** What each way in which a call can fail comes to: the kind of failure, and whether monitor mode may let it pass (spec kubewarden.md 3.6). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FailureCause } from "../../src/policy/outcome.js";
import { callFailure, causeOf, limitDetail, type Unanswered } from "../../src/wasm/failures.js";

const text = "out of memory, or so the text says";
const CAUSES: readonly [Unanswered, FailureCause][] = [
  [{ kind: "guest-error", text }, "trap"],
  [{ kind: "trap", text }, "trap"],
  [{ kind: "out-of-memory", text: "no room" }, "memory"],
  [{ kind: "start-failed", text }, "trap"],
  [{ kind: "limit", text: "too much" }, "memory"],
  [{ kind: "timeout", phase: "call", stderr: text }, "timeout"],
  [{ kind: "crash", text, outOfMemory: false }, "trap"],
  [{ kind: "crash", text: "ended", outOfMemory: true }, "memory"],
  [{ kind: "refused", text }, "overload"],
];

describe("failed calls", () => {
  for (const [result, cause] of CAUSES)
    test(`${result.kind} counts as ${cause}, whatever its text`, () => {
      assert.equal(causeOf(result), cause);
      assert.equal(callFailure(result).cause, cause);
    });

  test("only a limit that passes while the instance is made rejects in monitor mode, too", () => {
    const final = (phase: "start" | "call" | "waiting") => callFailure({ kind: "timeout", phase, stderr: "" }).final;
    assert.deepEqual([final("start"), final("call"), final("waiting")], [true, undefined, undefined]);
  });

  test("the log is told how full a guest's memory was when it trapped, and who sets the limit", () => {
    const MIB = 1024 * 1024;
    const told = (memoryBytes?: number) =>
      limitDetail({ kind: "trap", text, ...(memoryBytes !== undefined && { memoryBytes }) }, { memoryPages: 64 });
    assert.equal(told(3 * MIB), "its memory had 3 of the 4 MiB that it may have (memoryLimitMiB of its entry)");
    assert.deepEqual([told(MIB), told()], [undefined, undefined]);
    assert.match(limitDetail({ kind: "limit", text }, { memoryPages: 64 }) ?? "", /the server's own/);
    assert.equal(limitDetail({ kind: "guest-error", text }, { memoryPages: 64 }), undefined);
  });
});
