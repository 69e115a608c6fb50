/** Policies and bindings out of documents: decoded strictly and defaulted. */
import type { KubernetesVersion } from "../../cel/index.js";
import { duplicate, type FieldError, type FieldPath } from "../../kubernetes/field-error.js";
import { isObject, text } from "../../kubernetes/object.js";
import { decode, salvage } from "../shared/decode/api-type.js";
import { misread } from "../shared/decode/misread.js";
import type { ApiTypes } from "./api-types.js";
import { defaultBinding, defaultPolicy } from "./defaults.js";
import { type CommonBindingSpec, type CommonPolicySpec, GROUP, type Resource } from "./resource.js";
import { notServed, type ServedVersions } from "./server.js";

/** A kind of policies to read: its names, and its types by API version. */
export interface ReadableKind {
  readonly policyKind: string;
  readonly bindingKind: string;
  readonly types: ReadonlyMap<string, ApiTypes>;
  /** The versions of Kubernetes that serve each API version. */
  readonly served: ServedVersions;
}

/** A decoded and defaulted object; or why the server could not even read it. */
export type ReadDocument<P, B> =
  | { readonly kind: "policy"; readonly resource: P }
  | { readonly kind: "binding"; readonly resource: B }
  | Unreadable<P, B>
  | { readonly kind: "other" };

/** A document that the server cannot decode. */
export interface Unreadable<P, B> {
  readonly kind: "unreadable";
  /** The server's message. */
  readonly message: string;
  readonly path: FieldPath;
  /** All decoding errors, each at its place. */
  readonly mistakes: readonly FieldError[];
  /** The readable part, for finding further mistakes: never to be used as a policy. */
  readonly rest?: Exclude<ReadDocument<P, B>, { readonly kind: "unreadable" | "other" }>;
}

const unreadable = (message: string, path: FieldPath) =>
  ({ kind: "unreadable", message, path, mistakes: [{ path, text: message }] }) as const;

/**
 * Reads a document. Kinds that are neither policies nor bindings are `other`.
 * @param server the version of the server; without it, any that has the kind
 */
export function readDocument<P extends Resource<CommonPolicySpec>, B extends Resource<CommonBindingSpec>>(
  document: unknown,
  { policyKind, bindingKind, types: byVersion, served }: ReadableKind,
  server?: KubernetesVersion,
): ReadDocument<P, B> {
  if (!isObject(document)) return { kind: "other" };
  const apiVersion = text(document, "apiVersion");
  const kind = text(document, "kind");
  if (!apiVersion.startsWith(`${GROUP}/`) || (kind !== policyKind && kind !== bindingKind)) return { kind: "other" };
  const version = apiVersion.slice(GROUP.length + 1);
  const types = byVersion.get(version);
  if (types === undefined) {
    const message = `no kind "${kind}" is registered for version "${apiVersion}"; known are ${[...byVersion.keys()].join(", ")}`;
    return unreadable(message, ["apiVersion"]);
  }
  const missing = server === undefined ? undefined : notServed(kind, apiVersion, served, server);
  if (missing !== undefined) return unreadable(missing, ["apiVersion"]);
  const type = kind === policyKind ? types.policy : types.binding;
  const completed = (read: unknown): Exclude<ReadDocument<P, B>, { readonly kind: "unreadable" | "other" }> => {
    // Decoding has checked the members; metadata and spec may be missing, which stands for empty ones.
    const value = { metadata: {}, spec: {}, ...(read as object) };
    if (kind === policyKind) return { kind: "policy", resource: defaultPolicy(value as unknown as P) };
    return { kind: "binding", resource: defaultBinding(value as unknown as B) };
  };
  const decoded = decode(document, type);
  if (decoded.ok) return completed(decoded.value);
  const refusal = `${kind} in version "${version}" cannot be handled as a ${kind}: `;
  const { value, mistakes } = salvage(document, type);
  return {
    kind: "unreadable",
    message: refusal + decoded.failure.text,
    path: decoded.failure.path,
    mistakes: mistakes.map((mistake) => misread(mistake, refusal)),
    rest: completed(value),
  };
}

/**
 * Variables whose name was taken earlier (spec validating-admission-policy.md 1.1). Beyond the API server these are refused: evaluating them may never
 * end.
 */
export function repeatedVariables({ spec }: { readonly spec: CommonPolicySpec }): FieldError[] {
  const seen = new Set<string>();
  return (spec.variables ?? []).flatMap(({ name = "" }, i) => {
    const repeated = seen.has(name);
    seen.add(name);
    return repeated ? [duplicate(["spec", "variables", i, "name"], name)] : [];
  });
}
