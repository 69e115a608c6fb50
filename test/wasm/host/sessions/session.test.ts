/** Sessions in kwctl's format, spec kubewarden.md 10.2. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseCapabilities } from "../../../../src/config/capability-patterns.js";
import { PublicError } from "../../../../src/data/public-text.js";
import type { Executor } from "../../../../src/wasm/host/executor.js";
import { type Capability, HostCapabilities } from "../../../../src/wasm/host/host.js";
import { netCapability } from "../../../../src/wasm/host/net.js";
import { recordSession, replaySession } from "../../../../src/wasm/host/sessions/session.js";

const live: readonly Capability[] = [
  {
    namespace: "net",
    operations: {
      "v1/dns_lookup_host": {
        run: async (host) => {
          if (host === "nowhere") throw new PublicError("not found");
          return { ips: ["192.0.2.1"] };
        },
      },
    },
  },
  {
    namespace: "kubernetes",
    operations: {
      get_resource: { run: async () => ({ kind: "Namespace", large: 9007199254740993n }) },
      can_i: { run: async () => ({ allowed: true }) },
    },
  },
  { namespace: "oci", operations: { "v2/verify": { run: async () => ({ is_trusted: true, digest: "sha256:aa" }) } } },
];

/** The same capabilities where nothing answers any more. */
const dead: readonly Capability[] = live.map(({ namespace, operations }) => ({
  namespace,
  operations: Object.fromEntries(
    Object.keys(operations).map((name) => [name, { run: () => Promise.reject(new Error("asked the real world")) }]),
  ),
}));

function asker(capabilities: readonly Capability[], executor: Executor, patterns: readonly string[] = ["*"]) {
  const host = new HostCapabilities(capabilities, () => {}, executor);
  return async (path: string, payload: unknown): Promise<string> => {
    const [namespace = "", ...operation] = path.split("/");
    const answer = await host.serve(
      {
        binding: "kubewarden",
        namespace,
        operation: operation.join("/"),
        payload: new TextEncoder().encode(JSON.stringify(payload)),
      },
      {
        caller: { policy: "p", capabilities: parseCapabilities(patterns), contextAwareResources: [] },
        signal: new AbortController().signal,
      },
    );
    return answer.ok ? `+${new TextDecoder().decode(answer.payload)}` : `-${answer.error}`;
  };
}

const CALLS: readonly [string, unknown][] = [
  ["net/v1/dns_lookup_host", "example.org"],
  ["net/v1/dns_lookup_host", "nowhere"],
  ["kubernetes/get_resource", { api_version: "v1", kind: "Namespace", name: "prod", disable_cache: false }],
  [
    "kubernetes/can_i",
    {
      subject_access_review: { user: "a", resource_attributes: { verb: "get", resource: "pods" } },
      disable_cache: true,
    },
  ],
  ["oci/v2/verify", { type: "SigstorePubKeyVerify", image: "i", pub_keys: ["k"] }],
];

describe("sessions", () => {
  test("a recording replays without the real world", async () => {
    const recording = recordSession();
    const record = asker(live, recording.execute);
    const answers = [];
    for (const [path, payload] of CALLS) answers.push(await record(path, payload));
    const replay = replaySession(recording.text());
    const ask = asker(dead, replay.execute);
    for (const [index, [path, payload]] of CALLS.entries()) assert.equal(await ask(path, payload), answers[index]);
    assert.equal(replay.left(), 0);
    assert.equal(
      await ask("net/v1/dns_lookup_host", "more"),
      "-Callback evaluation failure: the list of recorded responses is empty",
    );
  });

  test("the file has kwctl's form", async () => {
    const recording = recordSession();
    const ask = asker(live, recording.execute);
    await ask("kubernetes/get_resource", { api_version: "v1", kind: "Namespace", name: "prod", disable_cache: false });
    await ask("net/v1/dns_lookup_host", "nowhere");
    assert.equal(
      recording.text(),
      `- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: v1
    kind: Namespace
    name: prod
    namespace: null
    disable_cache: false
    field_masks: null
  response:
    type: Success
    payload: '{"kind":"Namespace","large":9007199254740993}'
- type: Exchange
  request: |
    !DNSLookupHost
    host: nowhere
  response:
    type: Error
    message: not found
`,
    );
  });

  test("a file of kwctl's replays: missing fields are null, keys come in any order", async () => {
    const replay = replaySession(`- type: Exchange
  request: |
    !KubernetesGetResource
    name: prod
    kind: Namespace
    api_version: v1
    disable_cache: false
  response: {type: Success, payload: '{"apiVersion":"v1"}'}
- type: Exchange
  request: "!OciManifestDigest\\nimage: nginx:1.27\\n"
  response: {type: Error, message: "registry unreachable"}
`);
    const oci: Capability = {
      namespace: "oci",
      operations: { "v1/manifest_digest": { run: () => Promise.reject(new Error("asked the real world")) } },
    };
    const ask = asker([...dead.filter(({ namespace }) => namespace !== "oci"), oci], replay.execute);
    const [, payload] = CALLS[2] ?? [];
    assert.equal(await ask("kubernetes/get_resource", payload), '+{"apiVersion":"v1"}');
    assert.equal(replay.left(), 1);
    assert.equal(
      await ask("oci/v1/manifest_digest", "nginx:1.27"),
      "-Callback evaluation failure: registry unreachable",
    );
  });

  test("another call than the recorded one is an error, and the recorded one is used up", async () => {
    const replay = replaySession(`- type: Exchange
  request: "!DNSLookupHost\\nhost: a\\n"
  response: {type: Success, payload: "1"}
- type: Exchange
  request: "!DNSLookupHost\\nhost: c\\n"
  response: {type: Success, payload: "2"}
`);
    const ask = asker(dead, replay.execute);
    assert.equal(
      await ask("net/v1/dns_lookup_host", "b"),
      '-Callback evaluation failure: Replay error: unexpected request. Was expecting DNSLookupHost {"host":"a"}, got DNSLookupHost {"host":"b"} instead',
    );
    assert.equal(await ask("net/v1/dns_lookup_host", "c"), "+2");
    assert.equal(replay.left(), 0);
  });

  test("field masks are a set", async () => {
    const replay = replaySession(`- type: Exchange
  request: "!KubernetesGetResource {api_version: v1, kind: Namespace, name: a, disable_cache: true, field_masks: [metadata.name, spec]}"
  response: {type: Success, payload: "{}"}
`);
    const payload = { api_version: "v1", kind: "Namespace", name: "a", disable_cache: true };
    const ask = asker(dead, replay.execute);
    assert.equal(
      await ask("kubernetes/get_resource", { ...payload, field_masks: ["spec", "metadata.name", "spec"] }),
      "+{}",
    );
  });

  test("calls that cannot be understood are not recorded", async () => {
    const recording = recordSession();
    const net = netCapability(async () => ["192.0.2.1"]);
    assert.match(await asker([net], recording.execute)("net/v1/dns_lookup_host", 5), /^-invalid type/);
    assert.equal(recording.text(), "[]\n");
  });

  test("calls that are not granted are not recorded", async () => {
    const recording = recordSession();
    await asker(live, recording.execute, [])("net/v1/dns_lookup_host", "a");
    assert.equal(recording.text(), "[]\n");
  });

  for (const [what, text] of [
    ["no YAML", "{"],
    ["no list", "a: 1"],
    ["another type of entry", "- {type: Other}"],
    ["a request without tag", '- {type: Exchange, request: "a: 1", response: {type: Success, payload: ""}}'],
    ["a response that is none", '- {type: Exchange, request: "!DNSLookupHost\\nhost: a", response: {type: Success}}'],
  ] as const) {
    test(`a file with ${what} is refused`, () =>
      assert.throws(() => replaySession(text), { name: "SessionError", code: "host-session" }));
  }
});
