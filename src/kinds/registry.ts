/** The kinds of policies that are served. To add one: write its folder, and name it here. */
import { STORED_VERSION } from "../admission-policy/dialect.js";
import { createServer } from "../admission-policy/server.js";
import type { KubernetesVersion, SchemaFactory, Watcher } from "../cel-policy/index.js";
import type { Webhook } from "../policy/webhook.js";
import type { WasmRuntime } from "../wasm/index.js";
import { celModuleKind } from "./cel-module/kind.js";
import { certificateRequestPolicyKind } from "./certificate-request-policy/kind.js";
import { PolicyWebhook } from "./certificate-request-policy/policy-webhook.js";
import { groupKind } from "./group/kind.js";
import type { Kinds } from "./kind.js";
import { kyvernoKind } from "./kyverno/kind.js";
import { createMutationCompilers } from "./mutating-admission-policy/compilers.js";
import { mutatingAdmissionPolicyKind } from "./mutating-admission-policy/kind.js";
import { createExpressionCompiler } from "./validating-admission-policy/dialect.js";
import { validatingAdmissionPolicyKind } from "./validating-admission-policy/kind.js";
import { wasmKind } from "./wasm/kind.js";

/** What kinds compile and run their policies with. */
export interface KindTools {
  /** Watches the evaluation of CEL policies and groups. */
  readonly watcher?: Watcher;
  /** Makes the schemas that expressions' types are checked against; absent: they are not checked. */
  readonly schemas?: SchemaFactory;
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

/** The webhooks of kinds whose policies have one in a cluster. */
export const createWebhooks = (): readonly Webhook[] => [new PolicyWebhook()];

/** All kinds. */
export function createKinds(tools: KindTools): Kinds {
  const { watcher, schemas, runtime, policyTimeout, now, httpInNamespaced, kubernetesVersion } = tools;
  const validatingAdmissionPolicy = validatingAdmissionPolicyKind(
    createExpressionCompiler(STORED_VERSION, watcher),
    schemas,
    kubernetesVersion && createServer(kubernetesVersion, createExpressionCompiler),
  );
  return {
    documents: [
      validatingAdmissionPolicy,
      mutatingAdmissionPolicyKind(
        createMutationCompilers(STORED_VERSION, watcher),
        kubernetesVersion && createServer(kubernetesVersion, createMutationCompilers),
      ),
      kyvernoKind(watcher, httpInNamespaced),
      certificateRequestPolicyKind(watcher),
    ],
    inline: validatingAdmissionPolicy.inline,
    modules: [celModuleKind(policyTimeout, now, watcher), wasmKind(runtime)],
    group: groupKind(now, watcher),
  };
}
