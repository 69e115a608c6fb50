/** What every guest protocol must do, put to the same misbehaving guest in each of them. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { PublicError } from "../../src/data/public-text.js";
import type { Failure, Outcome } from "../../src/policy/outcome.js";
import type { Capability } from "../../src/wasm/host/host.js";
import type { WasmPolicy } from "../../src/wasm/index.js";
import { admission, behave, context, file, patch, raw, testRuntime } from "../wasm/support.js";

interface Protocol {
  readonly name: string;
  readonly folder: string;
  /** The words around a guest's own error. */
  readonly guestError: string;
  /** What goes before the reason why an answer could not be read. */
  readonly unreadable: string;
  /** What a trap comes to. */
  readonly trap: RegExp;
  readonly timeout: string;
  /** How settings that could not be checked are refused. */
  readonly settingsTrap: RegExp;
  readonly settingsRubbish: string;
  /** Where the guest's own log lines end up in level and text. */
  readonly log: { readonly level: string; readonly message: string };
}

const CALLED = {
  guestError: "internal server error: Guest call failure: chaos guest error",
  unreadable: "internal server error: invalid response from policy: ",
  trap: /^internal server error: Guest call failure: unreachable$/,
  timeout: "Policy execution interrupted because it exceeded the allowed execution time",
  settingsTrap:
    /^Policy settings are invalid: Error invoking settings validation callback: Guest call failure: unreachable$/,
  settingsRubbish: "Policy settings are invalid: error: expected value at line 1 column 1",
};

const protocols: readonly Protocol[] = [
  { name: "extism", folder: "extism", ...CALLED, log: { level: "warn", message: "hello from chaos" } },
  { name: "kubewarden-wapc", folder: "wapc", ...CALLED, log: { level: "info", message: "hello from chaos" } },
  {
    name: "wasi",
    folder: "wasi",
    guestError: "chaos guest error",
    unreadable: "internal server error: Cannot deserialize policy validation response: ",
    trap: /^$/,
    timeout: "",
    settingsTrap: /^Policy settings are invalid: the module ended with an error and wrote nothing to standard error$/,
    settingsRubbish:
      "Policy settings are invalid: Cannot deserialize settings validation response: expected value at line 1 column 1",
    log: { level: "warn", message: "validate: hello from chaos" },
  },
];

/** A capability that answers what it was asked, refuses, or never answers. */
const testCapability: Capability = {
  namespace: "net",
  operations: {
    "v1/dns_lookup_host": {
      run: async (payload) => {
        if (payload === "never") return new Promise(() => {});
        if (payload === "broken") throw new PublicError("no such host", { cause: new PublicError("the wire is cut") });
        if (payload === "cut") throw new Error("connect ECONNREFUSED 10.99.99.99:6443");
        return { asked: payload };
      },
    },
  },
};

/** The limit of calls that are meant to run into it. */
const TIMEOUT_MS = 300;
/** The same for checks of settings, which have several times as much. */
const SHORT_MS = 50;
/** A limit that no call reaches: the runner ends a test that waits for it. */
const ENDLESS_MS = 600_000;
/** The limit of all others: whatever else this machine does meanwhile. */
const PATIENCE_MS = 60_000;

function assertFailure(outcome: Outcome, cause: Failure["cause"], message: string | RegExp): void {
  assert.ok(outcome.verdict === "error", `it was ${JSON.stringify(outcome)}`);
  assert.equal(outcome.cause, cause);
  if (typeof message === "string") assert.equal(outcome.message, message);
  else assert.match(outcome.message, message);
}

for (const protocol of protocols) {
  describe(`${protocol.name}:`, async () => {
    const { runtime, logged, violations } = testRuntime({
      defaultTimeoutMs: PATIENCE_MS,
      limits: { memoryPages: 1024, hostCalls: 100, outputBytes: 4 * 1024 * 1024 },
      capabilityList: [testCapability],
    });
    after(() => runtime.close());
    const bytes = file(`test/fixtures/chaos/${protocol.folder}.wasm`);
    const load = (settings: Record<string, unknown> = {}, hostCapabilities: readonly string[] = []) =>
      runtime.load({ id: "chaos", bytes, settings, hostCapabilities });
    /** Settings are checked within the same limit as calls, so the limit is put on a module that is ready already. */
    const limited = async (settings: Record<string, unknown> = {}, hostCapabilities: readonly string[] = []) => {
      await load();
      return runtime.load({ id: "limited", bytes, settings, hostCapabilities, timeoutMs: TIMEOUT_MS });
    };
    let shared: Promise<WasmPolicy> | undefined;
    const ask = async (mode: string) => {
      shared ??= load();
      return behave(await shared, mode);
    };

    test("says what it is", async () => {
      const policy = await load();
      assert.equal(policy.implementation, protocol.name);
      assert.match(policy.digest, /^sha256:[0-9a-f]{64}$/);
    });

    test("accepts", async () => assert.deepEqual(await ask("accept"), { verdict: "allow" }));

    test("accepts with words", async () =>
      assert.deepEqual(await ask("accept-msg"), { verdict: "allow", message: "accepted with a message", code: 201 }));

    test("warnings and audit annotations", async () =>
      assert.deepEqual(await ask("accept-warn"), {
        verdict: "allow",
        warnings: ["first warning", "second warning"],
        auditAnnotations: { who: "chaos", k2: "v2" },
      }));

    test("rejects", async () => assert.deepEqual(await ask("reject"), { verdict: "deny", message: "chaos says no" }));

    test("rejects without a word", async () => assert.deepEqual(await ask("reject-bare"), { verdict: "deny" }));

    test("rejects with message and code", async () =>
      assert.deepEqual(await ask("reject-code"), {
        verdict: "deny",
        message: "chaos says no with a code",
        code: 418,
        warnings: ["rejected with a warning"],
        auditAnnotations: { why: "code" },
      }));

    test("text beyond ASCII", async () =>
      assert.deepEqual(await ask("reject-unicode"), { verdict: "deny", message: "é→🙂 nein" }));

    test("mutates, with numbers as they are", async () =>
      assert.deepEqual(await ask("mutate"), {
        verdict: "allow",
        mutation: patch(
          { op: "add", path: "/chaos", value: "yes" },
          { op: "add", path: "/large", value: 9007199254740993n },
          { op: "remove", path: "/kind" },
          { op: "remove", path: "/metadata" },
        ),
      }));

    test("a mutation of nothing is refused", async () => {
      const policy = await load({ mode: "mutate" });
      assert.deepEqual(await policy.evaluate(admission(), context()), {
        verdict: "deny",
        // So that a group sees the attempt and not a plain denial.
        mutation: { kind: "of-nothing" },
      });
    });

    test("the payload is the request and the settings", async () => {
      const policy = await load({ mode: "echo", large: 9007199254740993n });
      const review = raw({ a: [1, "é", null] });
      assert.deepEqual(await policy.evaluate(review, context()), {
        verdict: "deny",
        message: '{"request":{"a":[1,"é",null]},"settings":{"mode":"echo","large":9007199254740993}}',
      });
    });

    test("a raw review may be mutated", async () => {
      const policy = await load();
      assert.deepEqual(await policy.evaluate(raw({ mode: "mutate" }), context()), {
        verdict: "allow",
        mutation: patch(
          { op: "add", path: "/chaos", value: "yes" },
          { op: "add", path: "/large", value: 9007199254740993n },
          { op: "remove", path: "/mode" },
        ),
      });
    });

    test("unknown fields of an answer are ignored, null counts as absent", async () =>
      assert.deepEqual(await ask("unknown-field"), { verdict: "allow" }));

    test("a mutation in another spelling is no mutation", async () =>
      assert.deepEqual(await ask("camel-case"), { verdict: "allow" }));

    for (const [mode, reason] of [
      ["not-json", "expected ident at line 1 column 2"],
      ["empty", "EOF while parsing a value at line 1 column 0"],
      ["wrong-shape", "missing field `accepted` at line 1 column 16"],
      ["two-documents", "trailing characters at line 1 column 18"],
      ["bad-accepted", "invalid type for `accepted`: a string, expected a boolean"],
      ["bad-code", "invalid type for `code`: a number, expected u16"],
    ] as const) {
      test(`an answer that is ${mode} is an error`, async () =>
        assertFailure(await ask(mode), "protocol", `${protocol.unreadable}${reason}`));
    }

    test("a guest's own error", async () => assertFailure(await ask("guest-error"), "trap", protocol.guestError));

    test("a trap", async () => assertFailure(await ask("trap"), "trap", protocol.trap));

    test("recursion without end", async () => {
      const outcome = await ask("stack");
      assert.equal(outcome.verdict, "error");
    });

    test("a busy loop ends at the limit", async () => {
      const policy = await limited();
      const started = performance.now();
      assertFailure(await behave(policy, "loop"), "timeout", protocol.timeout);
      assert.ok(performance.now() - started >= TIMEOUT_MS - 5);
    });

    test("others are served while one loops", async () => {
      const other = await load();
      const policy = await runtime.load({ id: "looping", bytes, settings: {}, timeoutMs: ENDLESS_MS });
      let ended = false;
      const gone = new AbortController();
      const loop = Promise.resolve(
        policy.evaluate(raw({ mode: "loop" }), { ...context(), signal: gone.signal }),
      ).finally(() => {
        ended = true;
      });
      for (let call = 0; call < 2; call++) assert.deepEqual(await behave(other, "accept"), { verdict: "allow" });
      assert.ok(!ended);
      gone.abort();
      assert.equal((await loop).verdict, "error");
      assert.deepEqual(await behave(other, "accept"), { verdict: "allow" });
    });

    test("the caller's deadline ends a call before its own limit", async () => {
      const policy = await runtime.load({ id: "patient", bytes, settings: {}, timeoutMs: ENDLESS_MS });
      const outcome = await policy.evaluate(raw({ mode: "loop" }), context(100));
      assertFailure(outcome, "timeout", protocol.timeout);
    });

    test("a loop in the start function ends at the limit", () =>
      assert.rejects(
        runtime.load({
          id: "start",
          bytes: file(`test/fixtures/start/${protocol.folder}-loop.wasm`),
          settings: {},
          timeoutMs: SHORT_MS,
        }),
        // An Extism guest without validate_settings is only started.
        { code: protocol.name === "extism" ? "wasm-start" : "wasm-settings" },
      ));

    test("a memory bomb ends at the memory limit", async () => {
      const outcome = await ask("oom");
      assert.ok(outcome.verdict === "error", JSON.stringify(outcome));
      assert.notEqual(outcome.cause, "timeout");
    });

    test("a policy's own memory limit holds, beside others of the same module", async () => {
      const withPages = (memoryPages: number) =>
        runtime.load({ id: "chaos", bytes, settings: {}, memoryPages, timeoutMs: PATIENCE_MS });
      const [small, ample] = [await withPages(16), await withPages(8192)];
      assert.equal((await behave(small, "accept")).verdict, "allow");
      const [refused, tooLong] = [await behave(small, "large"), await behave(ample, "large")];
      assert.ok(refused.verdict === "error" && tooLong.verdict === "error");
      assert.notEqual(refused.cause, "timeout");
      assert.notEqual(refused.message, tooLong.message);
    });

    test("an answer beyond the output limit", async () => {
      const outcome = await ask("large");
      assert.ok(outcome.verdict === "error", JSON.stringify(outcome));
    });

    test("settings are refused in the guest's words", () =>
      assert.rejects(load({ mode: "bad-settings" }), {
        code: "wasm-settings",
        message: "Policy settings are invalid: mode bad-settings is not valid",
      }));

    test("settings that crash the guest are refused", () =>
      assert.rejects(load({ mode: "settings-trap" }), { code: "wasm-settings", message: protocol.settingsTrap }));

    test("settings that the guest answers with rubbish are refused", () =>
      assert.rejects(load({ mode: "settings-rubbish" }), { code: "wasm-settings", message: protocol.settingsRubbish }));

    test("log lines reach the log", async () => {
      logged.length = 0;
      await ask("log");
      assert.deepEqual(logged, [{ policy: "chaos", ...protocol.log, fields: { request_uid: "0b3c" } }]);
    });

    test("a tracing event reaches the log without being granted", async () => {
      logged.length = 0;
      assert.deepEqual(await ask("host-event"), { verdict: "allow" });
      assert.deepEqual(logged, [
        {
          policy: "chaos",
          level: "warn",
          message: "hello from chaos",
          fields: { request_uid: "0b3c", data: '{"container":"web"}' },
        },
      ]);
    });

    test("a flood of log lines is cut off", async () => {
      logged.length = 0;
      await ask("log-flood");
      assert.ok(logged.length <= 1002, `${logged.length} lines`);
    });

    test("a host call that was granted", async () => {
      const policy = await load({ mode: 'host:kubewarden:net:v1/dns_lookup_host:"é"' }, ["net/*"]);
      assert.deepEqual(await policy.evaluate(raw({}), context()), { verdict: "deny", message: '+{"asked":"é"}' });
    });

    test("a host call that was not granted", async () => {
      violations.length = 0;
      assert.deepEqual(await ask('host:kubewarden:net:v1/dns_lookup_host:"a"'), {
        verdict: "deny",
        message:
          "-Policy has not been granted access to the 'net/v1/dns_lookup_host' host capability. The violation has been reported.",
      });
      assert.deepEqual(violations, ["Policy tried to use a host capability it doesn't have access to"]);
    });

    test("a host call that fails", async () => {
      const policy = await load({ mode: 'host:kubewarden:net:v1/dns_lookup_host:"broken"' }, ["*"]);
      assert.deepEqual(await policy.evaluate(raw({}), context()), {
        verdict: "deny",
        message: "-Callback evaluation failure: no such host\n\nCaused by:\n    the wire is cut",
      });
      const cut = await load({ mode: 'host:kubewarden:net:v1/dns_lookup_host:"cut"' }, ["*"]);
      assert.deepEqual(await cut.evaluate(raw({}), context()), {
        verdict: "deny",
        message: "-Callback evaluation failure: the host could not answer",
        detail: "net/v1/dns_lookup_host: connect ECONNREFUSED 10.99.99.99:6443",
      });
    });

    test("a host call that never returns ends at the limit", async () => {
      const policy = await limited({ mode: 'host:kubewarden:net:v1/dns_lookup_host:"never"' }, ["*"]);
      assertFailure(await policy.evaluate(raw({}), context()), "timeout", protocol.timeout);
    });

    test("a host call with a name without end is stopped, and fills no log", async () => {
      violations.length = 0;
      const policy = await load({ mode: `host:kubewarden:${"n".repeat(100_000)}:op:1` }, ["net/*"]);
      const outcome = await policy.evaluate(raw({}), context());
      const message = "the policy made a call to the host whose name is longer than 256 characters";
      assertFailure(outcome, "memory", `internal server error: Guest call failure: ${message}`);
      assert.deepEqual(violations, []);
    });

    test("host calls without end are stopped", async () => {
      const outcome = await ask("host-flood");
      assert.ok(outcome.verdict === "error", JSON.stringify(outcome));
    });
  });
}

test("kubewarden-wapc: an exception that the guest does not catch is a trap that says so", async (t) => {
  const { runtime } = testRuntime();
  t.after(() => runtime.close());
  const policy = await runtime.load({ id: "p", bytes: file("test/fixtures/start/wapc-throw.wasm"), settings: {} });
  const message = "internal server error: Guest call failure: an exception that the policy did not catch";
  assertFailure(await policy.evaluate(raw({}), context()), "trap", message);
});
