/** The pool with real threads: what happens to calls that wait, run away, or find the pool closed. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Outcome } from "../../../../src/policy/outcome.js";
import type { Capability } from "../../../../src/wasm/host/host.js";
import { admission, behave, context, file, raw, testRuntime } from "../../support.js";

const CHAOS = file("test/fixtures/chaos/wapc.wasm");
const TIMED_OUT: Outcome = {
  verdict: "error",
  cause: "timeout",
  message: "Policy execution interrupted because it exceeded the allowed execution time",
};

function pool(t: TestContext, capabilityList: readonly Capability[] = []) {
  const { runtime } = testRuntime({ workers: 1, defaultTimeoutMs: 30_000, capabilityList, warmStart: false });
  t.after(() => runtime.close());
  const load = (id: string, timeoutMs = 30_000) =>
    runtime.load({ id, bytes: CHAOS, settings: {}, hostCapabilities: ["*"], timeoutMs });
  return { runtime, load };
}

/** A thread that waits for calls: what fails on the main thread is asked again on one. */
async function startThread({ load }: ReturnType<typeof pool>): Promise<void> {
  await behave(await load("trapping"), "trap");
}

const loop = admission({ metadata: { annotations: { "chaos/mode": "loop" } } });

describe("the worker pool", () => {
  test("serves others while a policy loops again and again", async (t) => {
    const threads = pool(t);
    const { runtime, load } = threads;
    await startThread(threads);
    const honest = await load("honest");
    const [runaway, gone] = [await load("runaway"), new AbortController()];
    // With one slot they run one after another, each for half a minute.
    const loops = Array.from({ length: 4 }, () => runaway.evaluate(loop, { ...context(), signal: gone.signal }));
    for (let call = 0; call < 20; call++) assert.deepEqual(await behave(honest, "accept"), { verdict: "allow" });
    const { running, waiting } = runtime.status();
    assert.deepEqual([running > 0, running + waiting], [true, 4]);
    gone.abort();
    for (const { verdict } of await Promise.all(loops)) assert.equal(verdict, "error");
  });

  test("ends the calls of a policy that loops again and again, and goes on with their threads", async (t) => {
    const { runtime, load } = pool(t);
    const runaway = await load("runaway", 100);
    const loops = Array.from({ length: 4 }, () => behave(runaway, "loop"));
    assert.deepEqual(await Promise.all(loops), [TIMED_OUT, TIMED_OUT, TIMED_OUT, TIMED_OUT]);
    // The guests end themselves when they next look.
    while (runtime.status().running > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const { timeouts, crashes, running, waiting } = runtime.status();
    assert.deepEqual({ timeouts, crashes, running, waiting }, { timeouts: 4, crashes: 0, running: 0, waiting: 0 });
  });

  test("gives up a waiting call at its caller's deadline", async (t) => {
    const threads = pool(t);
    const { runtime, load } = threads;
    await startThread(threads);
    const [runaway, gone] = [await load("runaway"), new AbortController()];
    const first = runaway.evaluate(loop, { ...context(), signal: gone.signal });
    assert.deepEqual(await runaway.evaluate(loop, context(200)), {
      verdict: "error",
      cause: "overload",
      message: "Policy execution could not be started in time: all worker threads are busy",
    });
    // The one before goes on.
    assert.deepEqual([runtime.status().running, runtime.status().waiting], [1, 0]);
    gone.abort();
    assert.equal((await first).verdict, "error");
  });

  test("drops a waiting call whose caller has gone", async (t) => {
    const threads = pool(t);
    const { runtime, load } = threads;
    await startThread(threads);
    const runaway = await load("runaway");
    const [ended, gone] = [new AbortController(), new AbortController()];
    const first = runaway.evaluate(loop, { ...context(), signal: ended.signal });
    const second = runaway.evaluate(loop, { ...context(), signal: gone.signal });
    gone.abort();
    assert.equal((await second).verdict, "error");
    assert.equal(runtime.status().waiting, 0);
    ended.abort();
    await first;
  });

  test("lets others run while a guest waits for the host", async (t) => {
    let answer: ((value: unknown) => void) | undefined;
    const slow: Capability = {
      namespace: "net",
      operations: {
        "v1/dns_lookup_host": {
          run: () =>
            new Promise((resolve) => {
              answer = resolve;
            }),
        },
      },
    };
    const { load } = pool(t, [slow]);
    const [asking, honest] = [await load("asking"), await load("honest")];
    const asked = asking.evaluate(raw({ mode: 'host:kubewarden:net:v1/dns_lookup_host:"a"' }), context());
    assert.deepEqual(await behave(honest, "accept"), { verdict: "allow" });
    assert.deepEqual(await behave(asking, "accept"), { verdict: "allow" });
    while (!answer) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(await behave(honest, "accept"), { verdict: "allow" });
    answer("at last");
    assert.deepEqual(await asked, { verdict: "deny", message: '+"at last"' });
  });

  test("tells the host when nobody waits for its answer any more", async (t) => {
    let stopped: AbortSignal | undefined;
    const deaf: Capability = {
      namespace: "net",
      operations: {
        "v1/dns_lookup_host": {
          run: (_payload, { signal }) => {
            stopped = signal;
            return new Promise(() => {});
          },
        },
      },
    };
    const { load } = pool(t, [deaf]);
    const asking = await load("asking", 500);
    const mode = 'host:kubewarden:net:v1/dns_lookup_host:"a"';
    assert.deepEqual(await asking.evaluate(raw({ mode }), context()), TIMED_OUT);
    assert.equal(stopped?.aborted, true);
  });

  test("a caller that goes ends a host call under way, and all after it; the guest's thread lives on", async (t) => {
    let asked = 0;
    let stopped: AbortSignal | undefined;
    const deaf: Capability = {
      namespace: "net",
      operations: {
        "v1/dns_lookup_host": {
          run: (_payload, { signal }) => {
            asked++;
            stopped = signal;
            return new Promise(() => {});
          },
        },
      },
    };
    const { runtime, load } = pool(t, [deaf]);
    const asking = await load("asking");
    const gone = new AbortController();
    const review = raw({ mode: 'host:kubewarden:net:v1/dns_lookup_host:"a"' });
    const asked1 = asking.evaluate(review, { ...context(), signal: gone.signal });
    while (stopped === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    gone.abort();
    assert.equal((await asked1).verdict, "error");
    assert.equal(stopped.aborted, true);
    const late = await asking.evaluate(review, { ...context(), signal: gone.signal });
    assert.equal(late.verdict, "error");
    assert.equal(asked, 1);
    assert.equal(runtime.status().crashes, 0);
  });

  test("a caller that goes ends a call that has run for a while", async (t) => {
    const threads = pool(t);
    const { runtime, load } = threads;
    await startThread(threads);
    const runaway = await load("runaway", 30_000);
    for (const wait of [10, 400]) {
      const gone = new AbortController();
      const called = performance.now();
      const call = runaway.evaluate(loop, { ...context(), signal: gone.signal });
      await new Promise((resolve) => setTimeout(resolve, wait));
      gone.abort();
      assert.equal((await call).verdict, "error");
      assert.ok(performance.now() - called >= 20);
      // Its guest ends itself when it next looks.
      while (runtime.status().running > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { timeouts, crashes, threads: left } = runtime.status();
    assert.deepEqual({ timeouts, crashes, left }, { timeouts: 0, crashes: 0, left: 1 });
  });

  test("a guest that loops behind a host call leaves its slot too", async (t) => {
    const quick: Capability = {
      namespace: "net",
      operations: {
        "v1/dns_lookup_host": { run: () => new Promise((resolve) => setTimeout(() => resolve("late"), 300)) },
      },
    };
    const { load } = pool(t, [quick]);
    const [asking, honest] = [await load("asking", 3_000), await load("honest")];
    const mode = 'host-then-loop:kubewarden:net:v1/dns_lookup_host:"a"';
    const asked = asking.evaluate(raw({ mode }), context());
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.deepEqual(await behave(honest, "accept"), { verdict: "allow" });
    assert.deepEqual(await asked, TIMED_OUT);
  });

  test("one call's memory is not the next one's, also behind a crash", async (t) => {
    const { load } = pool(t);
    const policy = await load("p");
    for (const mode of ["accept", "oom", "accept", "trap", "stack", "accept"]) {
      const outcome = await behave(policy, mode);
      assert.equal(outcome.verdict, mode === "accept" ? "allow" : "error");
    }
  });

  test("an answer that is no UTF-8 is none, and one with a byte order mark is no JSON", async (t) => {
    const { runtime } = testRuntime({ workers: 1, warmStart: false });
    t.after(() => runtime.close());
    const load = (answer: string, encoding: BufferEncoding = "utf8") => {
      const bytes = file("test/fixtures/trivial/wapc.wasm");
      const length = '{"accepted":true,"valid":true}'.length;
      const at = bytes.indexOf('{"accepted":true,"valid":true}');
      bytes.fill(" ", at, at + length).write(answer, at, length, encoding);
      return runtime.load({ id: "p", bytes, settings: {} });
    };
    assert.equal((await load('{"a":"é→🙂","valid":true}')).kind, "wasm");
    await assert.rejects(load('{"a":"\xff","valid":true}', "latin1"), /answer is not UTF-8/);
    await assert.rejects(
      load('\ufeff{"valid":true}'),
      /settings are invalid: error: expected value at line 1 column 1/,
    );
  });

  test("refuses when it is closed, and ends what runs", async (t) => {
    const { runtime, load } = pool(t);
    const policy = await load("p");
    const [running, waiting] = [behave(policy, "loop"), behave(policy, "loop")];
    await new Promise((resolve) => setTimeout(resolve, 50));
    runtime.close();
    const refused: Outcome = {
      verdict: "error",
      cause: "overload",
      message: "internal server error: the server is shutting down",
    };
    assert.deepEqual(await Promise.all([running, waiting, behave(policy, "accept")]), [refused, refused, refused]);
  });
});
