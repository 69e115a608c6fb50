/** Policies and bindings out of documents: decoded strictly, defaulted, validated. */

import { decode } from "../../cel-policy/decode/api-type.js";
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import type { FieldError, FieldPath } from "../../kubernetes/field-error.js";
import { isObject, text } from "../../kubernetes/object.js";
import { API_TYPES } from "./api-types.js";
import { type CompiledPolicy, compilePolicy } from "./compiled-policy.js";
import { defaultBinding, defaultPolicy } from "./defaults.js";
import { BINDING_KIND, type BindingResource, GROUP, POLICY_KIND, type PolicyResource } from "./resource.js";
import { validatePolicy } from "./validate-policy.js";

/** A decoded and defaulted object; or why the server could not even read it. */
export type ReadDocument =
  | { readonly kind: typeof POLICY_KIND; readonly resource: PolicyResource }
  | { readonly kind: typeof BINDING_KIND; readonly resource: BindingResource }
  | { readonly kind: "unreadable"; readonly message: string; readonly path: FieldPath }
  | { readonly kind: "other" };

/** Reads a document. Kinds that are neither policies nor bindings are `other`. */
export function readDocument(document: unknown): ReadDocument {
  if (!isObject(document)) return { kind: "other" };
  const apiVersion = text(document, "apiVersion");
  const kind = text(document, "kind");
  if (!apiVersion.startsWith(`${GROUP}/`) || (kind !== POLICY_KIND && kind !== BINDING_KIND)) return { kind: "other" };
  const version = apiVersion.slice(GROUP.length + 1);
  const types = API_TYPES.get(version);
  if (types === undefined) {
    const message = `no kind "${kind}" is registered for version "${apiVersion}"; known are ${[...API_TYPES.keys()].join(", ")}`;
    return { kind: "unreadable", message, path: ["apiVersion"] };
  }
  const decoded = decode(document, kind === POLICY_KIND ? types.policy : types.binding);
  if (!decoded.ok) {
    const message = `${kind} in version "${version}" cannot be handled as a ${kind}: ${decoded.failure.text}`;
    return { kind: "unreadable", message, path: decoded.failure.path };
  }
  // Decoding has made sure of the members; metadata and spec may be missing, which stands for empty ones.
  const value = { metadata: {}, spec: {}, ...(decoded.value as object) };
  if (kind === POLICY_KIND) return { kind, resource: defaultPolicy(value as unknown as PolicyResource) };
  return { kind, resource: defaultBinding(value as unknown as BindingResource) };
}

/** Compiles and validates a policy. Beyond the API server, repeated names of variables are refused: evaluating them may never end. */
export function checkPolicy(
  policy: PolicyResource,
  compiler: ExpressionCompiler,
): { readonly compiled: CompiledPolicy; readonly errors: readonly FieldError[] } {
  const compiled = compilePolicy(policy.spec, compiler, "written");
  return { compiled, errors: [...validatePolicy(policy, compiled), ...repeatedVariables(policy)] };
}

/** Variables whose name was taken earlier (spec validating-admission-policy.md 1.1). */
export function repeatedVariables({ spec }: Pick<PolicyResource, "spec">): FieldError[] {
  const seen = new Set<string>();
  return (spec.variables ?? []).flatMap(({ name = "" }, i) => {
    const repeated = seen.has(name);
    seen.add(name);
    return repeated
      ? [{ path: ["spec", "variables", i, "name"], text: `Duplicate value: ${JSON.stringify(name)}` }]
      : [];
  });
}
