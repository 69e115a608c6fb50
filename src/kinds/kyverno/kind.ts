import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { compileQuery } from "../../world/entries/query.js";
import { allNeeds } from "../../world/needs.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind } from "../kind.js";
import { told } from "../report-or-throw.js";
import { isOneOf } from "../resource-entry.js";
import type { Watcher } from "../shared/watcher.js";
import { createCompilers } from "./dialect.js";
import { needsOf } from "./needs.js";
import { KyvernoPolicySet } from "./policy.js";
import { prepareDocuments } from "./prepare-documents.js";
import { KYVERNO_DOCUMENTS } from "./resource.js";

/**
 * Kyverno's ValidatingPolicies and NamespacedValidatingPolicies, with exceptions and context entries (spec kyverno.md 1 to 6).
 * @param watcher told what becomes of their expressions
 * @param httpInNamespaced whether NamespacedValidatingPolicies may use `http` (spec kyverno.md 1.7)
 */
export function kyvernoKind(watcher?: Watcher, httpInNamespaced = false): DocumentKind {
  const compilers = createCompilers(watcher);
  return {
    ...KYVERNO_DOCUMENTS,
    prepare({ id, own, others, validationActions, optionalCompanions = false }, warn) {
      const options = { compilers, now: Date.now(), httpInNamespaced, jmesPathError };
      let prepared = prepareDocuments(own, options);
      if (optionalCompanions) {
        // An exception that can't be understood exempts nothing, and an entry that can't be is not there for whoever asks for it.
        const broken = brokenCompanions(own, prepared.problems);
        const left = prepared.problems.filter(({ file }) => broken.has(file));
        if (broken.size > 0)
          prepared = prepareDocuments(
            own.filter(({ file }) => !broken.has(file)),
            options,
          );
        for (const problem of left) warn({ ...problem, severity: "warning" });
      }
      told(prepared.problems, warn);
      const { policies, contextEntries } = prepared;
      const brought = others.map(({ value }) => value).filter(isObject) as readonly JsonObject[];
      const objects = [...brought, ...contextEntries.map((entry): JsonObject => ({ ...entry }))];
      return {
        needs: allNeeds(policies.map((policy) => needsOf(policy, objects))),
        policy: (outer) => {
          const world = worldOf(objects, outer);
          return new KyvernoPolicySet(policies, { id, world, validationActions, watcher });
        },
      };
    },
  };
}

/** The files of documents with errors that are no policies, and have no policy beside them. */
function brokenCompanions(documents: readonly SourceDocument[], problems: readonly Problem[]): ReadonlySet<string> {
  const files = new Set(problems.flatMap(({ severity, file }) => (severity === "error" ? [file] : [])));
  for (const document of documents) if (isOneOf(KYVERNO_DOCUMENTS.policies, document)) files.delete(document.file);
  return files;
}

/** What is wrong with a query; `undefined` when nothing is. */
function jmesPathError(expression: string): string | undefined {
  const query = compileQuery(expression);
  return query instanceof LookupFailure ? query.message : undefined;
}
