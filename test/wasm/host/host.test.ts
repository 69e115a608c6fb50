/** The gates of spec kubewarden.md 7.1, in their order, and the capabilities behind them. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { parseCapabilities } from "../../../src/config/capability-patterns.js";
import { PublicError } from "../../../src/data/public-text.js";
import { type KubernetesReader, NO_CLUSTER, textsOf } from "../../../src/kubernetes/reader.js";
import { type Caller, type Capability, HostCapabilities } from "../../../src/wasm/host/host.js";
import type { ImageReader, RequiredSignature } from "../../../src/wasm/host/images.js";
import { kubernetesCapability } from "../../../src/wasm/host/kubernetes/capability.js";
import { netCapability } from "../../../src/wasm/host/net.js";
import { ociCapability } from "../../../src/wasm/host/oci.js";

const NAMESPACE = { apiVersion: "v1", kind: "Namespace" };

function host(capabilities: readonly Capability[], patterns: readonly string[] = ["*"], kinds = [NAMESPACE]) {
  const violations: [string, Readonly<Record<string, string>>][] = [];
  const capability = new HostCapabilities(capabilities, (message, fields) => violations.push([message, fields]));
  const caller: Caller = { policy: "p", capabilities: parseCapabilities(patterns), contextAwareResources: kinds };
  const ask = async (path: string, payload: unknown, binding = "kubewarden"): Promise<unknown> => {
    const [namespace = "", ...operation] = path.split("/");
    const bytes = new TextEncoder().encode(typeof payload === "string" ? payload : JSON.stringify(payload));
    const answer = await capability.serve(
      { binding, namespace, operation: operation.join("/"), payload: bytes },
      { caller, signal: new AbortController().signal },
    );
    return answer.ok ? JSON.parse(new TextDecoder().decode(answer.payload)) : answer.error;
  };
  return { ask, violations };
}

describe("the gates", () => {
  const net = netCapability(async (name) => {
    if (name === "nowhere") throw new Error("not found");
    return ["192.0.2.1", "2001:db8::1"];
  });

  test("another binding", async () =>
    assert.equal(await host([net]).ask("net/v1/dns_lookup_host", "{}", "other"), "unknown binding: other"));

  test("not granted comes before unknown", async () => {
    const { ask, violations } = host([net], ["oci/*"]);
    assert.equal(
      await ask("nope/nope", "{}"),
      "Policy has not been granted access to the 'nope/nope' host capability. The violation has been reported.",
    );
    assert.deepEqual(violations, [
      ["Policy tried to use a host capability it doesn't have access to", { policy: "p", capability: "nope/nope" }],
    ]);
  });

  test("unknown namespaces and operations, when granted", async () => {
    const { ask } = host([net]);
    assert.equal(await ask("nope/nope", "{}"), "unknown namespace: nope");
    assert.equal(await ask("net/v2/nope", "{}"), "unknown operation: v2/nope");
    assert.equal(await ask("net/constructor", "{}"), "unknown operation: constructor");
  });

  test("tracing is always granted", async () =>
    assert.equal(await host([], []).ask("tracing/other", "{}"), "unknown operation: other"));

  test("a payload that is not JSON", async () =>
    assert.equal(await host([net]).ask("net/v1/dns_lookup_host", "nope"), "expected ident at line 1 column 2"));

  test("an answer", async () =>
    assert.deepEqual(await host([net]).ask("net/v1/dns_lookup_host", '"example.org"'), {
      ips: ["192.0.2.1", "2001:db8::1"],
    }));

  test("a call that was answered leaves nothing behind at the signal that serves the whole evaluation", async () => {
    const capabilities = new HostCapabilities([net], () => {});
    const caller: Caller = { policy: "p", capabilities: parseCapabilities(["*"]), contextAwareResources: [] };
    const { signal } = new AbortController();
    const payload = new TextEncoder().encode('"a"');
    for (let calls = 0; calls < 3; calls++) {
      const call = { binding: "kubewarden", namespace: "net", operation: "v1/dns_lookup_host", payload };
      assert.equal((await capabilities.serve(call, { caller, signal })).ok, true);
    }
    await new Promise(setImmediate);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });

  test("a call of a guest that has been stopped is not executed, and one under way is not waited for", async () => {
    let executed = 0;
    const deaf: Capability = {
      namespace: "net",
      operations: { "v1/dns_lookup_host": { run: () => new Promise(() => executed++) } },
    };
    const capabilities = new HostCapabilities([deaf], () => {});
    const caller: Caller = { policy: "p", capabilities: parseCapabilities(["*"]), contextAwareResources: [] };
    const payload = new TextEncoder().encode('"a"');
    const stopped = new AbortController();
    const ask = () =>
      capabilities.serve(
        { binding: "kubewarden", namespace: "net", operation: "v1/dns_lookup_host", payload },
        { caller, signal: stopped.signal },
      );
    const underWay = ask();
    assert.equal(executed, 1);
    stopped.abort();
    assert.deepEqual(await underWay, {
      ok: false,
      error: "Callback evaluation failure: the caller no longer waits for the answer",
    });
    assert.deepEqual(await ask(), { ok: false, error: "the caller no longer waits for the answer" });
    assert.equal(executed, 1);
  });

  test("a kind is granted with its version", async () => {
    const { ask } = host([kubernetesCapability(NO_CLUSTER, () => 0)], ["*"], [{ apiVersion: "v1", kind: "Event" }]);
    for (const [api_version, kind] of [
      ["events.k8s.io/v1", "Event"],
      ["v1", "Events"],
    ])
      assert.equal(
        await ask("kubernetes/get_resource", { api_version, kind, name: "a", disable_cache: true }),
        `Policy has not been granted access to Kubernetes ${api_version}/${kind} resources. The violation has been reported.`,
      );
  });

  test("what a guest names is cut in the log", async () => {
    const { ask, violations } = host([kubernetesCapability(NO_CLUSTER, () => 0)]);
    const kind = "K".repeat(1000);
    const answer = await ask("kubernetes/get_resource", { api_version: "v1", kind, name: "a", disable_cache: true });
    assert.match(String(answer), /^Policy has not been granted access to Kubernetes v1\/K{1000} resources/);
    assert.equal(violations[0]?.[1].kind, `${"K".repeat(256)}…`);
  });

  test("a failure", async () =>
    assert.equal(
      await host([net]).ask("net/v1/dns_lookup_host", '"nowhere"'),
      "Callback evaluation failure: not found",
    ));
});

describe("kubernetes", () => {
  const asked: unknown[] = [];
  const reader: KubernetesReader = {
    ...NO_CLUSTER,
    get: async (kind, query) => {
      asked.push([kind.kind, query]);
      return { ...kind, metadata: { name: query.name }, spec: { a: 1, b: [{ c: 1, d: 2 }] } };
    },
    texts: async (_kind, query) => {
      asked.push(query);
      return textsOf([{ metadata: { name: "a" }, spec: { x: 1 }, status: {} }]);
    },
    canI: async (question) => {
      asked.push(question);
      return { allowed: true, reason: "because" };
    },
  };
  let time = 0;
  const { ask, violations } = host([kubernetesCapability(reader, () => time)]);
  const get = (more: Record<string, unknown> = {}) =>
    ask("kubernetes/get_resource", { api_version: "v1", kind: "Namespace", name: "a", disable_cache: false, ...more });

  test("an object is kept for five seconds, unless it must be fresh", async () => {
    asked.length = 0;
    time = 1;
    await get();
    await get();
    assert.equal(asked.length, 1);
    await get({ disable_cache: true });
    assert.equal(asked.length, 2);
    time += 5_001;
    await get();
    assert.equal(asked.length, 3);
    await get({ namespace: "n" });
    assert.deepEqual(asked.at(-1), ["Namespace", { name: "a", namespace: "n" }]);
  });

  test("equal questions at the same time are asked once", async () => {
    asked.length = 0;
    await Promise.all([get({ name: "same" }), get({ name: "same" }), get({ name: "same", disable_cache: true })]);
    assert.equal(asked.length, 1);
  });

  test("masks keep what they name, and what is always kept", async () => {
    assert.deepEqual(await get({ field_masks: ["spec.b.c"] }), {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "a" },
      spec: { b: [{ c: 1 }] },
    });
    assert.deepEqual(await get({ field_masks: ["spec"] }), await get());
    assert.deepEqual(await get({ field_masks: [] }), await get());
  });

  test("a list has the form of a list", async () => {
    const answer = await ask("kubernetes/list_resources_by_namespace", {
      api_version: "v1",
      kind: "Namespace",
      namespace: "n",
      label_selector: "a=b",
      field_selector: null,
      field_masks: ["spec"],
    });
    assert.deepEqual(answer, {
      apiVersion: "v1",
      kind: "NamespaceList",
      metadata: {},
      items: [{ metadata: { name: "a" }, spec: { x: 1 } }],
    });
    assert.deepEqual(asked.at(-1), { namespace: "n", labelSelector: "a=b" });
    await ask("kubernetes/list_resources_all", { api_version: "v1", kind: "Namespace" });
    assert.deepEqual(asked.at(-1), {});
  });

  test("a kind that the policy may not read", async () => {
    assert.equal(
      await get({ kind: "Secret" }),
      "Policy has not been granted access to Kubernetes v1/Secret resources. The violation has been reported.",
    );
    assert.deepEqual(violations.at(-1), [
      "Policy tried to access a Kubernetes resource it doesn't have access to",
      { policy: "p", apiVersion: "v1", kind: "Secret" },
    ]);
  });

  test("access questions, in both spellings of their attributes, need no kind", async () => {
    const resource = { verb: "get", resource: "secrets", namespace: "n" };
    const review = { user: "alice", groups: ["g"] };
    for (const key of ["resource_attributes", "resourceAttributes"]) {
      asked.length = 0;
      const answer = await ask("kubernetes/can_i", {
        // Guests in Rust send null for what they don't say.
        subject_access_review: { ...review, [key]: { ...resource, group: null, subresource: null } },
        disable_cache: true,
      });
      assert.deepEqual(answer, { allowed: true, reason: "because" });
      assert.deepEqual(asked, [{ ...review, resourceAttributes: resource }]);
    }
  });

  test("an access answer is kept for those who ask the same for the same user and groups only", async () => {
    asked.length = 0;
    const attributes = { verb: "get", resource: "pods" };
    for (const [user, groups] of [
      ["bob", ["a"]],
      ["bob", ["b"]],
      ["bob", undefined],
      ["eve", ["a"]],
      ["bob", ["a"]],
    ] as const)
      await ask("kubernetes/can_i", {
        subject_access_review: { user, groups, resource_attributes: attributes },
        disable_cache: false,
      });
    assert.equal(asked.length, 4);
  });

  test("missing fields are said", async () => {
    assert.equal(await ask("kubernetes/get_resource", { kind: "Namespace" }), "missing field `api_version`");
    assert.equal(await get({ disable_cache: undefined }), "missing field `disable_cache`");
  });

  test("without a cluster", async () =>
    assert.equal(
      await host([kubernetesCapability(NO_CLUSTER, () => 0)]).ask("kubernetes/get_resource", {
        api_version: "v1",
        kind: "Namespace",
        name: "a",
        disable_cache: true,
      }),
      "Callback evaluation failure: kube::Client was not initialized properly",
    ));
});

describe("oci", () => {
  const wanted: (readonly RequiredSignature[])[] = [];
  let digests = 0;
  const images: ImageReader = {
    digest: async () => {
      digests++;
      return "sha256:aa";
    },
    manifest: async (image) => ({ schemaVersion: 2, image }),
    manifestAndConfig: async () => ({ manifest: {}, digest: "sha256:bb", config: { os: "linux" } }),
    verify: async (image, { allOf }) => {
      if (image === "unsigned") throw new PublicError("no signatures found for image: unsigned ");
      wanted.push(allOf);
      return "sha256:cc";
    },
  };
  let time = 0;
  const { ask } = host([ociCapability(images, () => time)]);

  test("digest, manifest, configuration", async () => {
    assert.deepEqual(await ask("oci/v1/manifest_digest", '"nginx"'), { digest: "sha256:aa" });
    assert.deepEqual(await ask("oci/v1/oci_manifest", '"nginx"'), { schemaVersion: 2, image: "nginx" });
    assert.deepEqual(await ask("oci/v1/oci_manifest_config", '"nginx"'), {
      manifest: {},
      digest: "sha256:bb",
      config: { os: "linux" },
    });
  });

  test("answers are kept for a minute", async () => {
    time = 10;
    digests = 0;
    await ask("oci/v1/manifest_digest", '"kept"');
    await ask("oci/v1/manifest_digest", '"kept"');
    assert.equal(digests, 1);
    time += 60_001;
    await ask("oci/v1/manifest_digest", '"kept"');
    assert.equal(digests, 2);
  });

  const SIGNED = { is_trusted: true, digest: "sha256:cc" };

  test("version 1: the variant is the key", async () => {
    assert.deepEqual(
      await ask("oci/v1/verify", { SigstorePubKeyVerify: { image: "i", pub_keys: ["k1", "k2"], annotations: null } }),
      SIGNED,
    );
    assert.deepEqual(wanted.at(-1), [
      { kind: "pubKey", key: "k1" },
      { kind: "pubKey", key: "k2" },
    ]);
    assert.match(String(await ask("oci/v1/verify", { SigstoreGithubActionsVerify: {} })), /^unknown variant/);
  });

  const variants: [Record<string, unknown>, readonly RequiredSignature[]][] = [
    [
      { type: "SigstorePubKeyVerify", pub_keys: ["k"], annotations: { env: "prod" } },
      [{ kind: "pubKey", key: "k", annotations: { env: "prod" } }],
    ],
    [
      { type: "SigstoreKeylessVerify", keyless: [{ issuer: "https://i", subject: "s" }] },
      [{ kind: "genericIssuer", issuer: "https://i", subject: { equal: "s" } }],
    ],
    [
      { type: "SigstoreKeylessPrefixVerify", keyless_prefix: [{ issuer: "https://i", url_prefix: "https://u/team" }] },
      [{ kind: "genericIssuer", issuer: "https://i", subject: { urlPrefix: "https://u/team/" } }],
    ],
    [{ type: "SigstoreGithubActionsVerify", owner: "o" }, [{ kind: "githubAction", owner: "o" }]],
    [{ type: "SigstoreGithubActionsVerify", owner: "o", repo: "r" }, [{ kind: "githubAction", owner: "o", repo: "r" }]],
  ];
  for (const [request, expected] of variants) {
    test(`version 2: ${JSON.stringify(request)}`, async () => {
      assert.deepEqual(await ask("oci/v2/verify", { image: "i", ...request }), SIGNED);
      assert.deepEqual(wanted.at(-1), expected);
    });
  }

  const refused: [Record<string, unknown>, string][] = [
    [{ type: "SigstorePubKeyVerify", pub_keys: [] }, "Callback evaluation failure: Must provide at least one pub key"],
    [{ type: "SigstoreKeylessVerify", keyless: [] }, "Callback evaluation failure: Must provide keyless info"],
    [
      { type: "SigstoreKeylessPrefixVerify", keyless_prefix: [] },
      "Callback evaluation failure: Must provide keyless info",
    ],
    [{ type: "SigstoreGithubActionsVerify", owner: "" }, "Callback evaluation failure: Must provide owner info"],
    [
      { type: "SigstoreKeylessPrefixVerify", keyless_prefix: [{ issuer: "i", url_prefix: "no url" }] },
      'Callback evaluation failure: the URL prefix "no url" is not a URL',
    ],
    [{ type: "SigstorePubKeyVerify" }, "missing field `pub_keys`"],
    [
      { type: "SigstorePubKeyVerify", pub_keys: new Array(65).fill("k") },
      "Callback evaluation failure: pub_keys has 65 elements, at most 64 may be there",
    ],
    [
      { type: "SigstoreKeylessVerify", keyless: new Array(65).fill({ issuer: "i", subject: "s" }) },
      "Callback evaluation failure: keyless has 65 elements, at most 64 may be there",
    ],
    [
      {
        ...{ type: "SigstoreCertificateVerify", certificate: [0], certificate_chain: new Array(17).fill([0]) },
        require_rekor_bundle: false,
      },
      "Callback evaluation failure: certificate_chain has 17 elements, at most 16 may be there",
    ],
    [
      {
        ...{ type: "SigstoreCertificateVerify", certificate: new Array(32 * 1024 + 1).fill(48) },
        ...{ certificate_chain: null, require_rekor_bundle: false },
      },
      "Callback evaluation failure: a certificate has 32769 bytes, at most 32768 may be there",
    ],
    [
      { type: "SigstoreGithubActionsVerify", owner: "o", annotations: { a: "x".repeat(256 * 1024) } },
      "Callback evaluation failure: the request is too large",
    ],
  ];
  for (const [request, text] of refused) {
    test(`refused: ${text}`, async () => assert.equal(await ask("oci/v2/verify", { image: "i", ...request }), text));
  }

  test("an image without the signature is an error, never an answer", async () =>
    assert.equal(
      await ask("oci/v2/verify", { type: "SigstorePubKeyVerify", image: "unsigned", pub_keys: ["k"] }),
      "Callback evaluation failure: no signatures found for image: unsigned ",
    ));
});
