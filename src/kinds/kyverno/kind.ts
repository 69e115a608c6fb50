import type { Coverage } from "../../cel-policy/coverage/coverage.js";
import type { Problem } from "../../documents/problem.js";
import type { SourceDocument } from "../../documents/source-document.js";
import type { FieldError, FieldPath } from "../../kubernetes/field-error.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { allNeeds } from "../../world/needs.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind, DocumentSet, PreparedEntry, Warn } from "../kind.js";
import { LoadError } from "../load-error.js";
import { checkContextEntry } from "./check-context-entry.js";
import { ExceptionChecker } from "./check-exception.js";
import { checkPolicy, policyWarnings } from "./check-policy.js";
import type { CompileError } from "./compile.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { createCompilers } from "./dialect.js";
import { NamedObjects } from "./named-objects.js";
import { needsOf } from "./needs.js";
import { KyvernoPolicySet } from "./policy.js";
import { preparePolicies } from "./prepare-policies.js";
import { describeFailure, readResource } from "./read.js";
import {
  CONTEXT_ENTRY_KIND,
  CONTEXT_GROUP,
  type ContextEntryResource,
  EXCEPTION_KIND,
  type ExceptionResource,
  GROUP,
  NAMESPACED_POLICY_KIND,
  POLICY_KIND,
  type PolicyResource,
} from "./resource.js";

/**
 * Kyverno's ValidatingPolicies and NamespacedValidatingPolicies, with exceptions and context entries (spec kyverno.md 1 to 6).
 * @param coverage told what is reached of their expressions
 */
export function kyvernoKind(coverage?: Coverage): DocumentKind {
  const compilers = createCompilers(coverage);
  return {
    policies: [
      { group: GROUP, kind: POLICY_KIND },
      { group: GROUP, kind: NAMESPACED_POLICY_KIND },
    ],
    companions: [
      { group: GROUP, kind: EXCEPTION_KIND },
      { group: CONTEXT_GROUP, kind: CONTEXT_ENTRY_KIND },
    ],
    prepare(documents, warn) {
      const reading = new Reading(warn);
      for (const document of documents.own) reading.read(document);
      const { policies, failures } = preparePolicies(reading.policies, reading.exceptions, { compilers });
      for (const { resource, errors } of failures) for (const error of errors) reading.refuse(resource, error);
      if (reading.errors.length > 0) throw LoadError.of(reading.errors);
      reading.warnOfExceptions();
      return prepared(policies, documents);
    },
  };
}

function prepared(policies: readonly CompiledPolicy[], { id, others, validationActions }: DocumentSet): PreparedEntry {
  const objects = others.map(({ value }) => value).filter(isObject) as readonly JsonObject[];
  return {
    needs: allNeeds(policies.map((policy) => needsOf(policy, objects))),
    policy: (world) => new KyvernoPolicySet(policies, { id, world: worldOf(objects, world), validationActions }),
  };
}

/** The documents of an entry as they are read, with all that is wrong with them (disposable). */
class Reading {
  readonly policies: PolicyResource[] = [];
  readonly exceptions: ExceptionResource[] = [];
  readonly entries: ContextEntryResource[] = [];
  readonly errors: Problem[] = [];
  readonly #documents = new Map<unknown, SourceDocument>();
  readonly #checker = new ExceptionChecker();
  readonly #objects = new NamedObjects();
  readonly #warn: Warn;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  read(document: SourceDocument): void {
    const read = readResource(document.value);
    switch (read.kind) {
      case "other":
        return;
      case "unreadable":
        for (const failure of read.failures) this.#error(document, { ...failure, text: describeFailure(failure) });
        return;
      case "policy":
        this.#policy(read.resource, document);
        break;
      case "exception":
        this.exceptions.push(read.resource);
        for (const error of this.#checker.check(read.resource)) this.#error(document, error);
        break;
      case "context-entry":
        this.entries.push(read.resource);
        for (const error of checkContextEntry(read.resource)) this.#error(document, error);
    }
    this.#documents.set(read.resource, document);
  }

  #policy(resource: PolicyResource, document: SourceDocument): void {
    this.policies.push(resource);
    const { kind, metadata } = resource;
    if (kind === NAMESPACED_POLICY_KIND && (metadata.namespace ?? "") === "") {
      const text = "Required value: the policy looks at objects of its own namespace only";
      this.#error(document, { path: ["metadata", "namespace"], text });
    }
    for (const error of checkPolicy(resource, this.#objects)) this.#error(document, error);
    for (const { path, text } of policyWarnings(resource)) this.#warn(document.problem("warning", path, text));
  }

  /** Keeps what an expression's mistake is, where it stands; that of a variant stands where the policy has it. */
  refuse(resource: PolicyResource, { exception, variant, path, text }: CompileError): void {
    const document = this.#documents.get(exception ?? resource);
    if (document === undefined) return;
    const name = resource.metadata.name ?? "";
    const of = exception === undefined ? "" : `with the policy ${name}: `;
    const as =
      variant === "" ? "" : `as it is rewritten for ${variant === "cronjobs" ? "cronjobs" : "pod controllers"}: `;
    this.#error(document, { path, text: `${of}${as}${text}` }, placeInside(text, variant !== ""));
  }

  /** What exempts from nothing. */
  warnOfExceptions(): void {
    const named = new Set(this.policies.map(({ kind, metadata }) => `${kind} ${metadata.name ?? ""}`));
    for (const exception of this.exceptions) {
      const { policyRefs = [], expiresAt } = exception.spec;
      const document = this.#documents.get(exception);
      const warn = (path: FieldPath, text: string): void =>
        document && this.#warn(document.problem("warning", path, text));
      policyRefs.forEach(({ kind = "", name = "" }, i) => {
        if (named.has(`${kind} ${name}`)) return;
        warn(["spec", "policyRefs", i], `names no policy of this entry: there is no ${kind} ${JSON.stringify(name)}`);
      });
      if (expiresAt !== undefined && Date.parse(expiresAt) < Date.now()) {
        warn(["spec", "expiresAt"], "the exception has expired: it exempts from nothing");
      }
    }
  }

  #error(document: SourceDocument, { path, text }: FieldError, inner?: ReturnType<typeof placeInside>): void {
    this.errors.push(document.problem("error", path, text, inner));
  }
}

/** The place of an expression's error inside the expression, when the text names one as the engine does. In a variant's it is another one. */
function placeInside(text: string, rewritten: boolean): { readonly line: number; readonly column: number } | undefined {
  const [, line, column] = (!rewritten && /<input>:(\d+):(\d+):/.exec(text)) || [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}
