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
  const { watcher, typeCheck = false, kubernetesVersion } = tools;
  const [{ STORED_VERSION }, { createServer }, { createExpressionCompiler }, { validatingAdmissionPolicyKind }] =
    await Promise.all([
      import("./admission-policy/dialect.js"),
      import("./admission-policy/server.js"),
      import("./validating-admission-policy/dialect.js"),
      import("./validating-admission-policy/kind.js"),
    ]);
  const schemas = typeCheck ? (await import("./shared/index.js")).bundledSchemas() : undefined;
  return validatingAdmissionPolicyKind(
    createExpressionCompiler(STORED_VERSION, watcher),
    schemas,
    kubernetesVersion && createServer(kubernetesVersion, createExpressionCompiler),
  );
}

async function loadMutating({ watcher, kubernetesVersion, typeCheck = false }: KindTools): Promise<DocumentKind> {
  const [{ STORED_VERSION }, { createServer }, { createMutationCompilers }, { mutatingAdmissionPolicyKind }] =
    await Promise.all([
      import("./admission-policy/dialect.js"),
      import("./admission-policy/server.js"),
      import("./mutating-admission-policy/compilers.js"),
      import("./mutating-admission-policy/kind.js"),
    ]);
  return mutatingAdmissionPolicyKind(
    createMutationCompilers(STORED_VERSION, watcher),
    kubernetesVersion && createServer(kubernetesVersion, createMutationCompilers),
    typeCheck ? (await import("./shared/index.js")).bundledSchemas() : undefined,
  );
}

async function loadKyverno({ watcher, httpInNamespaced, typeCheck = false }: KindTools): Promise<DocumentKind> {
  const { kyvernoKind } = await import("./kyverno/kind.js");
  const checked = typeCheck ? (await import("./shared/index.js")).bundledSchemas() : undefined;
  return kyvernoKind(watcher, httpInNamespaced, checked);
}

const loadCertificateRequest = async ({ watcher }: KindTools): Promise<DocumentKind> =>
  (await import("./certificate-request-policy/kind.js")).certificateRequestPolicyKind(watcher);
