/** Reads, checks and prepares policies and exceptions. */

import { formatFieldError } from "../../kubernetes/field-error.js";
import type { Watcher } from "../shared/watcher.js";
import { type CompileError, compilePolicy, exceptionsFor } from "./compile.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { type Compilers, createCompilers } from "./dialect.js";
import { imageMistakes } from "./image-validating/check-images.js";
import { type ExceptionResource, isImageValidating, isMutating, type PolicyResource } from "./resource.js";

/** A policy that does not compile. */
export interface CompileFailure {
  readonly resource: PolicyResource;
  readonly errors: readonly CompileError[];
  /** The message of Kyverno's command: `failed to compile policy NAME (LIST)` (spec kyverno.md 1.4). */
  readonly text: string;
}

/** The prepared policies, and the failures. */
export interface PreparedPolicies {
  readonly policies: readonly CompiledPolicy[];
  readonly failures: readonly CompileFailure[];
}

/** Options of preparing policies. */
export interface PrepareOptions {
  /** The compilers of everything that is loaded together; default: new ones. */
  readonly compilers?: Compilers;
  /** Watches the policies, where `compilers` are not given. */
  readonly watcher?: Watcher;
}

/** The text at the beginning of a list of mistakes in Kubernetes mode. */
const PLACEHOLDER = "<nil>: Internal error: validating policy compiler 1.0 error: failed to compile policy";

/** Compiles policies with the exceptions that name them. */
export function preparePolicies(
  resources: readonly PolicyResource[],
  exceptions: readonly ExceptionResource[],
  { watcher, compilers = createCompilers(watcher) }: PrepareOptions = {},
): PreparedPolicies {
  const policies: CompiledPolicy[] = [];
  const failures: CompileFailure[] = [];
  for (const resource of resources) {
    const compiled = compilePolicy(resource, exceptionsFor(resource, exceptions), compilers);
    // A signer that can't be asked about would count as one that has not signed.
    const unserved = isImageValidating(resource) ? imageMistakes(resource.spec) : [];
    const errors = [
      ...(compiled.ok ? [] : compiled.errors),
      ...unserved.map((error) => ({ ...error, exception: undefined, variant: "" as const })),
    ];
    if (compiled.ok && errors.length === 0) policies.push(compiled.policy);
    else failures.push({ resource, errors, text: failureText(resource, errors) });
  }
  return { policies, failures };
}

/** The mistakes of a policy, as the reference lists them. */
export const compileErrorTexts = (policy: PolicyResource, errors: readonly CompileError[]): readonly string[] => [
  ...(policy.spec.evaluation?.mode === "JSON" || isMutating(policy) || isImageValidating(policy) ? [] : [PLACEHOLDER]),
  ...errors.map(formatFieldError),
];

function failureText(resource: PolicyResource, errors: readonly CompileError[]): string {
  const texts = [...new Set(compileErrorTexts(resource, errors))];
  const list = texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`;
  return `failed to compile policy ${resource.metadata.name ?? ""} (${list})`;
}
