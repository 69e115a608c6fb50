/** Sorts the documents of an entry: policies, their bindings, and others. */

import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import { mismatchOf } from "../../kubernetes/go-types/as-struct.js";
import { isObject, type JsonObject, misnamedAt } from "../../kubernetes/object.js";
import { isConsequence } from "../shared/decode/misread.js";
import { metadataWarnings, type Writing } from "../shared/decode/validate-metadata.js";
import { unescapedName } from "./dialect.js";
import type { ReadDocument } from "./read.js";
import type { CommonBindingSpec, CommonPolicySpec, Resource } from "./resource.js";
import { bindingWarnings, warningsIn } from "./warnings.js";

/** The parts of a document that are used: its JSON value, and its maker of problems with their place. */
export type PolicyDocument = Pick<SourceDocument, "value" | "problem">;

/** A resource, and its document. */
export interface Found<R> {
  readonly resource: R;
  readonly document: PolicyDocument;
}

/** The readable part of a document with mistakes. */
export interface Broken<R> extends Found<R> {
  readonly mistakes: readonly FieldError[];
}

/** The contents of the documents. */
export interface FoundDocuments<P, B> {
  readonly policies: readonly Found<P>[];
  readonly bindings: readonly Found<B>[];
  /** The readable parts of policies and bindings with mistakes that are reported already: for finding further ones. */
  readonly broken: readonly Broken<P | B>[];
  /** Namespaces, parameters, CustomResourceDefinitions. */
  readonly objects: readonly JsonObject[];
}

/** Reads documents of a kind; those that cannot be read are problems. */
export function sortDocuments<P, B>(
  documents: readonly PolicyDocument[],
  read: (document: unknown) => ReadDocument<P, B>,
  problems: Problem[],
): FoundDocuments<P, B> {
  const policies: Found<P>[] = [];
  const bindings: Found<B>[] = [];
  const objects: JsonObject[] = [];
  const broken: Broken<P | B>[] = [];
  for (const document of documents) {
    const found = read(document.value);
    switch (found.kind) {
      case "unreadable":
        problems.push(...found.mistakes.map((mistake) => fieldProblem(document, "error", mistake)));
        if (found.rest !== undefined) {
          broken.push({ resource: found.rest.resource, document, mistakes: found.mistakes });
        }
        break;
      case "other":
        if (isObject(document.value)) {
          objects.push(document.value);
          problems.push(...mismatches(document.value, document));
        }
        break;
      case "policy":
        policies.push({ resource: found.resource, document });
        break;
      case "binding":
        bindings.push({ resource: found.resource, document });
    }
  }
  return { policies, bindings, broken, objects };
}

/**
 * The problem of an object that no cluster would store: a policy that needs it fails. One whose name or namespace is not a text is an error, since it may be
 * any object that is looked up.
 */
function mismatches(object: JsonObject, document: PolicyDocument): readonly Problem[] {
  const mismatch = mismatchOf(object);
  if (mismatch === undefined) return [];
  const misnamed = misnamedAt(object);
  if (misnamed !== undefined) {
    const [, key] = misnamed;
    const what = key === undefined ? "metadata is not a map" : `${key} is not a text (write it in quotes)`;
    const message = `an object's ${what}: the API server does not take it, and it may be any object that is looked up`;
    return [document.problem("error", misnamed, message)];
  }
  const message = `the API server does not take this, and a policy that asks for it fails: ${mismatch.error}`;
  return [document.problem("warning", mismatch.path, message)];
}

/** The server's warnings for a policy or a binding that it stores. */
export const storedWithWarnings = (
  { metadata }: Resource<unknown>,
  document: PolicyDocument,
  writing?: Writing,
): Problem[] => metadataWarnings(metadata, writing).map(({ path, text }) => document.problem("warning", path, text));

/** Variables whose names the evaluator takes for escaped, so that it never finds them. */
export function unreachableVariables({ spec }: Resource<CommonPolicySpec>, document: PolicyDocument): Problem[] {
  return (spec.variables ?? []).flatMap(({ name = "" }, i) => {
    if (unescapedName(name) === name) return [];
    const message = `the name looks escaped, so that variables.${name} is never found: choose one without "__"`;
    return [document.problem("warning", ["spec", "variables", i, "name"], message)];
  });
}

/** Further mistakes of documents that can't be decoded as they are. */
export const moreMistakes = <R>(
  broken: readonly Broken<R>[],
  check: (resource: R) => readonly FieldError[],
): readonly Problem[] =>
  broken.flatMap(({ resource, document, mistakes }) =>
    check(resource)
      .filter((error) => !isConsequence(error, mistakes))
      .map((error) => fieldProblem(document, "error", error)),
  );

/** The valid bindings by the policy they name. A broken one does not count as a binding: its policy then must not act as if it had none. */
export function usableBindings<B extends Resource<CommonBindingSpec>>(
  { policies, bindings, broken }: FoundDocuments<Resource<CommonPolicySpec>, B>,
  validate: (binding: B, writing?: Writing) => readonly FieldError[],
  problems: Problem[],
  writing?: Writing,
): Map<string, B[]> {
  const names = new Set([...policies, ...broken].map(({ resource }) => resource.metadata.name));
  const usable = new Map<string, B[]>();
  for (const { resource, document } of bindings) {
    const { policyName = "" } = resource.spec;
    const errors = validate(resource, writing);
    problems.push(...errors.map((error) => fieldProblem(document, "error", error)));
    problems.push(...storedWithWarnings(resource, document, writing));
    problems.push(...warningsIn(document, bindingWarnings(resource.spec)));
    if (policyName !== "" && !names.has(policyName)) {
      const message = `the binding has no effect: there is no policy "${policyName}"`;
      problems.push(document.problem("warning", ["spec", "policyName"], message));
    }
    const own = usable.get(policyName) ?? [];
    usable.set(policyName, own);
    if (errors.length === 0) own.push(resource);
  }
  return usable;
}
