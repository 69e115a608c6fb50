/** The kinds of policies that are served. To add one: write its folder, and name it here. */
import type { KubernetesVersion, Watcher } from "../cel-policy/index.js";
import type { ConfigEntry } from "../config/entry.js";
import type { Webhook } from "../policy/webhook.js";
import type { WasmRuntime } from "../wasm/index.js";
import { celModuleKind } from "./cel-module/kind.js";
import { PolicyWebhook } from "./certificate-request-policy/policy-webhook.js";
import { CERTIFICATE_REQUEST_DOCUMENTS } from "./certificate-request-policy/resource.js";
import type { DocumentKind, GroupKind, InlineKind, KindDocuments, Kinds } from "./kind.js";
import { KYVERNO_DOCUMENTS } from "./kyverno/resource.js";
import { MUTATING_DOCUMENTS } from "./mutating-admission-policy/resource.js";
import { usedKinds } from "./used-kinds.js";
import { VALIDATING_DOCUMENTS } from "./validating-admission-policy/resource.js";
import { wasmKind } from "./wasm/kind.js";

/** What kinds compile and run their policies with. */
export interface KindTools {
  /** Watches the evaluation of CEL policies and groups. */
  readonly watcher?: Watcher;
  /** Whether expressions' types are checked against the schemas of the kinds they match; default no. */
  readonly typeCheck?: boolean;
  /** Runs guests. */
  readonly runtime: WasmRuntime;
  /** Milliseconds an evaluation may take when its entry says nothing; Infinity for no limit. */
  readonly policyTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Whether policies that are confined to a namespace may send HTTP requests; default no. */
  readonly httpInNamespaced?: boolean;
  /** The Kubernetes that policies of admissionregistration.k8s.io must be stored by; absent: whatever can be understood. */
  readonly kubernetesVersion?: KubernetesVersion;
}

/** The kinds, of which those are loaded that a configuration has: each once, so that reloads find what it has compiled. */
export interface KindSource {
  /** What the entries need. Whatever they have no policy of must not be asked. */
  for(entries: readonly ConfigEntry[]): Promise<Kinds>;
}

/** The webhooks of kinds whose policies have one in a cluster. */
export const createWebhooks = (): readonly Webhook[] => [new PolicyWebhook()];

/** All kinds. */
export function createKinds(tools: KindTools): KindSource {
  const { watcher, runtime, policyTimeout, now } = tools;
  const modules = [celModuleKind(policyTimeout, now, watcher), wasmKind(runtime)];
  const validating = once(() => loadValidating(tools));
  const group = once(async (): Promise<GroupKind> => (await import("./group/kind.js")).groupKind(now, watcher));
  const documents: readonly { readonly types: KindDocuments; readonly load: () => Promise<DocumentKind> }[] = [
    { types: VALIDATING_DOCUMENTS, load: validating },
    { types: MUTATING_DOCUMENTS, load: once(() => loadMutating(tools)) },
    { types: KYVERNO_DOCUMENTS, load: once(() => loadKyverno(tools)) },
    { types: CERTIFICATE_REQUEST_DOCUMENTS, load: once(() => loadCertificateRequest(tools)) },
  ];
  const types = documents.map((kind) => kind.types);
  return {
    for: async (entries) => {
      const used = usedKinds(entries, types);
      return {
        documents: await Promise.all(
          documents.map(async (kind) =>
            used.documents.has(kind.types) ? kind.load() : { ...kind.types, prepare: notLoaded },
          ),
        ),
        inline: used.inline ? (await validating()).inline : { prepare: notLoaded },
        modules,
        group: used.groups ? await group() : { policy: notLoaded, mistakes: notLoaded },
      };
    },
  };
}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

/** A policy that nobody has seen must not become one that allows. */
function notLoaded(): never {
  throw new Error("a policy of a kind that the configuration did not seem to have");
}

async function loadValidating(tools: KindTools): Promise<DocumentKind & { readonly inline: InlineKind }> {
  const { watcher, typeCheck = false, kubernetesVersion } = tools;
  const [{ STORED_VERSION }, { createServer }, { createExpressionCompiler }, { validatingAdmissionPolicyKind }] =
    await Promise.all([
      import("../admission-policy/dialect.js"),
      import("../admission-policy/server.js"),
      import("./validating-admission-policy/dialect.js"),
      import("./validating-admission-policy/kind.js"),
    ]);
  const schemas = typeCheck ? (await import("../cel-policy/index.js")).bundledSchemas() : undefined;
  return validatingAdmissionPolicyKind(
    createExpressionCompiler(STORED_VERSION, watcher),
    schemas,
    kubernetesVersion && createServer(kubernetesVersion, createExpressionCompiler),
  );
}

async function loadMutating({ watcher, kubernetesVersion }: KindTools): Promise<DocumentKind> {
  const [{ STORED_VERSION }, { createServer }, { createMutationCompilers }, { mutatingAdmissionPolicyKind }] =
    await Promise.all([
      import("../admission-policy/dialect.js"),
      import("../admission-policy/server.js"),
      import("./mutating-admission-policy/compilers.js"),
      import("./mutating-admission-policy/kind.js"),
    ]);
  return mutatingAdmissionPolicyKind(
    createMutationCompilers(STORED_VERSION, watcher),
    kubernetesVersion && createServer(kubernetesVersion, createMutationCompilers),
  );
}

const loadKyverno = async ({ watcher, httpInNamespaced }: KindTools): Promise<DocumentKind> =>
  (await import("./kyverno/kind.js")).kyvernoKind(watcher, httpInNamespaced);

const loadCertificateRequest = async ({ watcher }: KindTools): Promise<DocumentKind> =>
  (await import("./certificate-request-policy/kind.js")).certificateRequestPolicyKind(watcher);
