/** OPA and Gatekeeper policies, spec kubewarden.md 6.5. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { parseJson } from "../../../../src/data/json.js";
import { ResourceError } from "../../../../src/kubernetes/client/errors.js";
import { type KubernetesReader, NO_CLUSTER } from "../../../../src/kubernetes/reader.js";
import { HostCapabilities } from "../../../../src/wasm/host/host.js";
import { recordSession, replaySession } from "../../../../src/wasm/host/sessions/session.js";
import type { WasmPolicy } from "../../../../src/wasm/index.js";
import { admission, behave, context, file, raw, testRuntime } from "../../support.js";

const NAMESPACES = [{ metadata: { name: "a" } }, { metadata: { name: "b" } }];
const PODS = [{ metadata: { name: "p", namespace: "a" } }];
const kubernetes: KubernetesReader = {
  ...NO_CLUSTER,
  snapshot: (kind) =>
    kind.kind === "Never"
      ? new Promise(() => {})
      : kind.kind === "Secret"
        ? Promise.reject(new ResourceError("Cannot find resource v1/Secret"))
        : Promise.resolve(
            kind.kind === "Pod"
              ? { kind, plural: "pods", namespaced: true, items: PODS }
              : { kind, plural: "namespaces", namespaced: false, items: NAMESPACES },
          ),
};
const BOTH_KINDS = [
  { apiVersion: "v1", kind: "Namespace" },
  { apiVersion: "v1", kind: "Pod" },
];

describe("opa:", () => {
  const { runtime, logged } = testRuntime({ kubernetes });
  after(() => runtime.close());
  const bytes = file("test/vectors/rego/opa.wasm");
  const load = (settings: Record<string, unknown> = {}, timeoutMs = 10_000): Promise<WasmPolicy> =>
    runtime.load({ id: "rego", bytes, settings, timeoutMs, executionMode: "opa" });
  const ask = async (mode: string) => behave(await load(), mode);

  test("a module that may be one or the other is refused", () =>
    assert.rejects(runtime.load({ id: "rego", bytes, settings: {} }), {
      code: "wasm-mode",
      message: "the module may be opa or gatekeeper; say which with executionMode",
    }));

  test("builtins that the host lacks are refused by name", () =>
    assert.rejects(
      runtime.load({
        id: "rego",
        bytes: file("test/vectors/rego/missing.wasm"),
        settings: {},
        executionMode: "opa",
      }),
      {
        code: "wasm-builtins",
        message: "the following Rego builtins are not provided by the host: http.send, rand.intn",
      },
    ));

  test("accepts", async () => assert.deepEqual(await ask("accept"), { verdict: "allow" }));

  test("accepts with warnings, annotations, words", async () => {
    assert.deepEqual(await ask("accept-warn"), {
      verdict: "allow",
      warnings: ["first warning", "second warning"],
      auditAnnotations: { who: "chaos" },
    });
    assert.deepEqual(await ask("accept-msg"), { verdict: "allow", message: "accepted with a message", code: 201 });
  });

  test("rejects with the status as the policy made it", async () =>
    assert.deepEqual(await ask("reject-code"), {
      verdict: "deny",
      message: "chaos says no",
      code: 418,
      reason: "Invalid",
      status: { message: "chaos says no", code: 418, reason: "Invalid" },
    }));

  test("rejects without a word", async () => assert.deepEqual(await ask("reject-bare"), { verdict: "deny" }));

  test("mutates by its own patch", async () => {
    const outcome = await ask("mutate");
    assert.ok(outcome.verdict === "allow" && outcome.mutation?.kind === "patch");
    assert.deepEqual(JSON.parse(Buffer.from(outcome.mutation.patch, "base64").toString()), [
      { op: "add", path: "/metadata/labels", value: { chaos: "yes" } },
    ]);
  });

  test("settings are data", async () => {
    const policy = await load({ mode: "reject-bare" });
    assert.deepEqual(await policy.evaluate(raw({}), context()), { verdict: "deny" });
  });

  test("the input is the request, large numbers included", async () => {
    const outcome = await (await load()).evaluate(raw({ mode: "echo", n: 9007199254740993n, t: "é" }), context());
    assert.ok(outcome.verdict === "deny" && outcome.message !== undefined);
    assert.deepEqual(parseJson(outcome.message), { request: { mode: "echo", n: 9007199254740993n, t: "é" } });
  });

  test("builtins serve the module", async () => {
    const outcome = await (await load()).evaluate(raw({ mode: "sprintf" }), context());
    assert.ok(outcome.verdict === "deny");
    assert.equal(outcome.message, 'sprintf has 2 of {"a": [1, true, null, "x"]} and   1.2');
    assert.deepEqual(await ask("used"), { verdict: "allow" });
  });

  test("trace reaches the log", async () => {
    logged.length = 0;
    assert.deepEqual(await ask("log"), { verdict: "allow" });
    assert.deepEqual(logged, [
      { policy: "rego", level: "debug", message: "hello from chaos", fields: { request_uid: "0b3c" } },
    ]);
  });

  for (const mode of ["no-uid", "no-allowed", "undefined"]) {
    test(`a result that is ${mode} can't be used`, async () =>
      assert.deepEqual(await ask(mode), {
        verdict: "error",
        cause: "protocol",
        message: "internal server error: cannot interpret OPA policy result",
      }));
  }

  test("a patch that is none can't be used", async () => assert.equal((await ask("bad-patch")).verdict, "error"));

  test("a failing builtin is an error, not an undefined", async () => {
    const outcome = await ask("builtin-error");
    assert.ok(outcome.verdict === "error");
    assert.equal(outcome.message, 'internal server error: semver.compare: "not a version" is not a semantic version');
  });

  test("a loop ends at the limit", async () =>
    assert.deepEqual(await behave(await load({}, 500), "loop"), {
      verdict: "error",
      cause: "timeout",
      message: "internal server error: guest code interrupted, execution deadline exceeded",
    }));

  test("resources of the cluster are data, whatever the settings call kubernetes, which is said", async () => {
    logged.length = 0;
    const policy = await runtime.load({
      id: "rego",
      bytes,
      settings: { mode: "resources", kubernetes: 1 },
      executionMode: "opa",
      contextAwareResources: BOTH_KINDS,
    });
    const outcome = await policy.evaluate(raw({}), context());
    assert.ok(outcome.verdict === "deny" && outcome.message !== undefined);
    assert.deepEqual(JSON.parse(outcome.message), {
      namespaces: { a: NAMESPACES[0], b: NAMESPACES[1] },
      pods: { a: { p: PODS[0] } },
    });
    assert.deepEqual(
      logged.map(({ level, message }) => [level, message.slice(0, 36)]),
      [["warn", "the setting `kubernetes` is hidden f"]],
    );
  });

  test("who is confined to a namespace has the resources in it as data, and none of a kind that is in none", async () => {
    const confined = (kinds: typeof BOTH_KINDS) =>
      runtime.load({
        id: "rego",
        bytes,
        settings: { mode: "resources" },
        executionMode: "opa",
        contextAwareResources: kinds,
        namespace: "b",
      });
    const outcome = await (await confined(BOTH_KINDS.slice(1))).evaluate(raw({}), context());
    assert.ok(outcome.verdict === "deny" && outcome.message !== undefined);
    assert.ok(!outcome.message.includes('"p"'), outcome.message);
    assert.deepEqual(await (await confined(BOTH_KINDS)).evaluate(raw({}), context()), {
      verdict: "error",
      cause: "capability",
      message:
        'cannot perform a request via callback channel: the policy is confined to the namespace "b": it may ask for objects in it only, and name it, and v1/Namespace are in none',
    });
  });

  test("the data document is made anew when resources change, and only then", async () => {
    let printed = 0;
    const pod = (name: string) => ({
      get metadata() {
        printed++;
        return { name, namespace: "a" };
      },
    });
    let items: readonly unknown[] = [pod("one")];
    const reader: KubernetesReader = {
      ...NO_CLUSTER,
      snapshot: async (kind) => ({ kind, plural: "pods", namespaced: true, items }),
    };
    const changing = testRuntime({ kubernetes: reader });
    const policy = await changing.runtime.load({
      id: "rego",
      bytes,
      settings: { mode: "resources" },
      executionMode: "opa",
      contextAwareResources: BOTH_KINDS.slice(1),
    });
    const shown = async () => {
      const outcome = await policy.evaluate(raw({}), context());
      return "message" in outcome ? outcome.message : undefined;
    };
    const first = await shown();
    assert.match(first ?? "", /"one"/);
    const once = printed;
    assert.equal(await shown(), first);
    assert.equal(printed, once);
    items = [...items, pod("two")];
    assert.match((await shown()) ?? "", /"two"/);
    changing.runtime.close();
  });

  test("resources that never come reject when the time is up", async () => {
    const policy = await runtime.load({
      id: "rego",
      bytes,
      settings: { mode: "accept" },
      executionMode: "opa",
      contextAwareResources: [{ apiVersion: "v1", kind: "Never" }],
    });
    const caller = new AbortController();
    const asked = policy.evaluate(raw({}), { ...context(), signal: caller.signal });
    caller.abort();
    assert.deepEqual(await asked, {
      verdict: "error",
      cause: "capability",
      message: "cannot perform a request via callback channel: the time for the evaluation is up",
    });
  });

  test("resources that can't be had reject", async () => {
    const policy = await runtime.load({
      id: "rego",
      bytes,
      settings: { mode: "accept" },
      executionMode: "opa",
      contextAwareResources: [{ apiVersion: "v1", kind: "Secret" }],
    });
    assert.deepEqual(await policy.evaluate(raw({}), context()), {
      verdict: "error",
      cause: "capability",
      message: "cannot perform a request via callback channel: Cannot find resource v1/Secret",
    });
  });
});

/** The exchanges of kwctl about two kinds. */
const SESSION = {
  lists: `- type: Exchange
  request: |
    !KubernetesListResourceAll
    api_version: v1
    kind: Namespace
    label_selector: null
    field_selector: null
    field_masks: null
  response:
    type: Success
    payload: '{"apiVersion":"v1","kind":"NamespaceList","metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}'
- type: Exchange
  request: |
    !KubernetesListResourceAll
    api_version: v1
    kind: Pod
    label_selector: null
    field_selector: null
    field_masks: null
  response:
    type: Success
    payload: '{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[{"metadata":{"name":"p","namespace":"a"}}]}'
`,
  plurals: `- type: Exchange
  request: |
    !KubernetesGetResourcePluralName
    api_version: v1
    kind: Namespace
  response:
    type: Success
    payload: '"namespaces"'
- type: Exchange
  request: |
    !KubernetesGetResourcePluralName
    api_version: v1
    kind: Pod
  response:
    type: Success
    payload: '"pods"'
`,
};

describe("sessions of Rego policies, spec kubewarden.md 10.2:", () => {
  const show = async (
    executionMode: "opa" | "gatekeeper",
    capabilities: HostCapabilities,
    reader: KubernetesReader,
  ): Promise<string | undefined> => {
    const { runtime } = testRuntime({ capabilities, kubernetes: reader });
    try {
      const policy = await runtime.load({
        id: "rego",
        bytes: file(`test/vectors/rego/${executionMode}.wasm`),
        settings: executionMode === "opa" ? { mode: "resources" } : { show: true },
        executionMode,
        contextAwareResources: [...BOTH_KINDS].reverse(),
      });
      const outcome = await policy.evaluate(executionMode === "opa" ? raw({}) : admission({}), context());
      return "message" in outcome ? outcome.message : undefined;
    } finally {
      runtime.close();
    }
  };
  for (const [mode, session] of [
    ["opa", SESSION.lists + SESSION.plurals],
    ["gatekeeper", SESSION.lists],
  ] as const) {
    test(`${mode}: the resources are recorded as kwctl does, and replayed without a cluster`, async () => {
      const recording = recordSession();
      const live = await show(mode, new HostCapabilities([], () => {}, recording.execute), kubernetes);
      assert.equal(recording.text(), session);
      assert.ok(live?.includes('"p"'), live);
      const replay = replaySession(session);
      assert.equal(await show(mode, new HostCapabilities([], () => {}, replay.execute), NO_CLUSTER), live);
      assert.equal(replay.left(), 0);
    });
  }

  test("what was not recorded rejects", async () =>
    assert.equal(
      await show("opa", new HostCapabilities([], () => {}, replaySession("[]").execute), kubernetes),
      "cannot perform a request via callback channel: the list of recorded responses is empty",
    ));
});

describe("gatekeeper:", () => {
  const { runtime } = testRuntime({ kubernetes });
  after(() => runtime.close());
  const bytes = file("test/vectors/rego/gatekeeper.wasm");
  const load = (settings: Record<string, unknown> = {}, contextAwareResources = BOTH_KINDS.slice(0, 0)) =>
    runtime.load({ id: "gk", bytes, settings, executionMode: "gatekeeper", contextAwareResources });
  const pod = (...names: string[]) =>
    admission({ spec: { containers: names.map((name) => ({ name, securityContext: { privileged: true } })) } });

  test("no violation allows", async () =>
    assert.deepEqual(await (await load()).evaluate(pod(), context()), { verdict: "allow" }));

  test("messages are joined, and there is no code", async () => {
    const outcome = await (await load({ exempt: [] })).evaluate(pod("a", "b"), context());
    assert.ok(outcome.verdict === "deny" && outcome.code === undefined && outcome.message !== undefined);
    // Violations are a set: their order is the module's.
    assert.deepEqual(outcome.message.split(", ").sort(), ["container a is privileged", "container b is privileged"]);
  });

  test("settings are parameters", async () =>
    assert.deepEqual(await (await load({ exempt: ["a", "b"] })).evaluate(pod("a", "b"), context()), {
      verdict: "allow",
    }));

  test("a violation without a message rejects all the same", async () =>
    assert.deepEqual(await (await load({ silent: true })).evaluate(pod(), context()), {
      verdict: "deny",
      message: "",
    }));

  test("raw reviews are refused", async () =>
    assert.deepEqual(await (await load()).evaluate(raw({}), context()), {
      verdict: "error",
      cause: "protocol",
      message: "internal server error: Gatekeeper does not support raw validation requests",
    }));

  test("resources of the cluster are the inventory", async () => {
    const outcome = await (await load({ show: true }, BOTH_KINDS)).evaluate(pod(), context());
    assert.ok(outcome.verdict === "deny" && outcome.message !== undefined);
    const inventory = outcome.message.split(", ").find((text) => text.startsWith("{")) ?? outcome.message;
    assert.deepEqual(JSON.parse(inventory.replace(", too many", "")), {
      cluster: { v1: { Namespace: { a: NAMESPACES[0], b: NAMESPACES[1] } } },
      namespace: { a: { v1: { Pod: { p: PODS[0] } } } },
    });
    assert.match(outcome.message, /too many/);
  });

  test("an OPA policy is no list of violations, and so an error", async () => {
    const policy = await runtime.load({
      id: "gk",
      bytes: file("test/vectors/rego/opa.wasm"),
      settings: {},
      executionMode: "gatekeeper",
    });
    const outcome = await policy.evaluate(admission({}), context());
    assert.equal(outcome.verdict, "error");
  });
});
