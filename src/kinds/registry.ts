/** The kinds of policies that are served. To add one: write its folder, and name it here. */

import { loadedOnce } from "../data/loaded-once.js";
import type { Webhook } from "../policy/webhook.js";
import type { WasmRuntime } from "../wasm/index.js";
import { celModuleKind } from "./cel-module/kind.js";
import { PolicyWebhook } from "./certificate-request-policy/policy-webhook.js";
import { CERTIFICATE_REQUEST_DOCUMENTS } from "./certificate-request-policy/resource.js";
import type { DocumentKind, InlineKind } from "./kind.js";
import { createKindSource, type KindSource } from "./kind-source.js";
import { KYVERNO_DOCUMENTS } from "./kyverno/resource.js";
import { MUTATING_DOCUMENTS } from "./mutating-admission-policy/resource.js";
import type { KubernetesVersion, Watcher } from "./shared/index.js";
import { VALIDATING_DOCUMENTS } from "./validating-admission-policy/resource.js";
import { wasmKind } from "./wasm/kind.js";

/** The tools with which kinds compile and run their policies. */
export interface KindTools {
  /** Watches the evaluation of CEL policies and groups. */
  readonly watcher?: Watcher;
  /** Whether expressions' types are checked against the schemas of the kinds they match; default no. */
  readonly typeCheck?: boolean;
  /** Runs guests. */
  readonly runtime: WasmRuntime;
  /** Milliseconds an evaluation may take when its entry does not say; Infinity for no limit. */
  readonly policyTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Whether policies that are confined to a namespace may send HTTP requests; default no. */
  readonly httpInNamespaced?: boolean;
  /** The Kubernetes version that must support policies of admissionregistration.k8s.io; absent: any known version. */
  readonly kubernetesVersion?: KubernetesVersion;
  /** The version as which those policies are evaluated; absent: that of a cluster's API servers, else 1.37. */
  readonly evaluatedAs?: KubernetesVersion;
  /** A newer release, of which warnings say what it decides otherwise; absent: none do. */
  readonly upgrade?: KubernetesVersion;
  /** The release of a cluster's API servers, such as `1.38`; `begin` waits for the first answer. */
  readonly release?: { readonly begin: () => Promise<void>; readonly current: string | undefined };
}

/** The webhooks of kinds whose policies have one in a cluster. */
export const createWebhooks = (): readonly Webhook[] => [new PolicyWebhook()];

/** All kinds. */
export function createKinds(tools: KindTools): KindSource {
  const { watcher, runtime, policyTimeout, now } = tools;
  // Documents and `cel:` entries share one kind.
  const validating = loadedOnce(() => loadValidating(tools));
  return createKindSource({
    documents: [
      { types: VALIDATING_DOCUMENTS, load: validating },
      { types: MUTATING_DOCUMENTS, load: () => loadMutating(tools) },
      { types: KYVERNO_DOCUMENTS, load: () => loadKyverno(tools) },
      { types: CERTIFICATE_REQUEST_DOCUMENTS, load: () => loadCertificateRequest(tools) },
    ],
    inline: async () => (await validating()).inline,
    group: async () => (await import("./group/kind.js")).groupKind(now, watcher),
    modules: [celModuleKind(policyTimeout, now, watcher), wasmKind(runtime)],
  });
}

async function loadValidating(tools: KindTools): Promise<DocumentKind & { readonly inline: InlineKind }> {
  const { watcher, typeCheck = false, kubernetesVersion, release, upgrade } = tools;
  await release?.begin();
  const [
    upgrading,
    { createServer, evaluatedVersion },
    { createExpressionCompiler },
    { validatingAdmissionPolicyKind },
  ] = await Promise.all([
    upgrade && import("./admission-policy/upgrade.js"),
    import("./admission-policy/server.js"),
    import("./validating-admission-policy/dialect.js"),
    import("./validating-admission-policy/kind.js"),
  ]);
  const schemas = typeCheck ? (await import("./shared/index.js")).bundledSchemas() : undefined;
  const server = kubernetesVersion && createServer(kubernetesVersion, createExpressionCompiler);
  const kinds = memoized((version: KubernetesVersion) =>
    validatingAdmissionPolicyKind(createExpressionCompiler(version, version, watcher), schemas, server),
  );
  const kind = () => {
    const own = kinds(evaluatedVersion(tools));
    if (!upgrading || !upgrade) return own;
    const { upgradedInline, upgradedKind } = upgrading;
    const newer = kinds(upgrade);
    return { ...upgradedKind(own, newer, upgrade), inline: upgradedInline(own.inline, newer.inline, upgrade) };
  };
  return {
    ...VALIDATING_DOCUMENTS,
    prepare: (documents, warn) => kind().prepare(documents, warn),
    inline: { prepare: (entry, warn) => kind().inline.prepare(entry, warn) },
  };
}

/** The function with its answers kept. */
function memoized<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

async function loadMutating(tools: KindTools): Promise<DocumentKind> {
  const { watcher, kubernetesVersion, release, typeCheck = false, upgrade } = tools;
  await release?.begin();
  const [upgrading, { createServer, evaluatedVersion }, { createMutationCompilers }, { mutatingAdmissionPolicyKind }] =
    await Promise.all([
      upgrade && import("./admission-policy/upgrade.js"),
      import("./admission-policy/server.js"),
      import("./mutating-admission-policy/compilers.js"),
      import("./mutating-admission-policy/kind.js"),
    ]);
  const server = kubernetesVersion && createServer(kubernetesVersion, createMutationCompilers);
  const schemas = typeCheck ? (await import("./shared/index.js")).bundledSchemas() : undefined;
  const kinds = memoized((version: KubernetesVersion) =>
    mutatingAdmissionPolicyKind(createMutationCompilers(version, version, watcher), server, schemas),
  );
  return {
    ...MUTATING_DOCUMENTS,
    prepare: (documents, warn) => {
      const own = kinds(evaluatedVersion(tools));
      const kind = upgrading && upgrade ? upgrading.upgradedKind(own, kinds(upgrade), upgrade) : own;
      return kind.prepare(documents, warn);
    },
  };
}

async function loadKyverno({ watcher, httpInNamespaced, typeCheck = false }: KindTools): Promise<DocumentKind> {
  const { kyvernoKind } = await import("./kyverno/kind.js");
  const checked = typeCheck ? (await import("./shared/index.js")).bundledSchemas() : undefined;
  return kyvernoKind(watcher, httpInNamespaced, checked);
}

const loadCertificateRequest = async ({ watcher }: KindTools): Promise<DocumentKind> =>
  (await import("./certificate-request-policy/kind.js")).certificateRequestPolicyKind(watcher);
