/** Prepares Kyverno's documents of one entry by a cluster's rules: read, checked and compiled, with every error and warning at its place. */

import {
  ADMISSION_REQUEST,
  createEnvironment,
  DYN,
  type Environment,
  type EnvironmentOptions,
  NAMESPACE,
} from "../../cel/index.js";
import { plainWords } from "../../config/documents/each-mistake.js";
import { fieldProblem } from "../../config/documents/field-problem.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooMany,
} from "../../kubernetes/field-error.js";
import { qualifiedNameErrors } from "../../kubernetes/name-formats.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { isConsequence } from "../shared/decode/misread.js";
import { expressionDoubts } from "../shared/doubts/expression-doubts.js";
import { trimSpace } from "../shared/expressions/trim.js";
import { unknownGroups } from "../shared/mutation/merge-types.js";
import type { SchemaSource } from "../shared/type-check/schema-source.js";
import { checkContextEntry, type JmesPathError } from "./check-context-entry.js";
import { checkPolicy, modeError, policyWarnings, targetsError } from "./check-policy.js";
import { allMistakes, brokenRule, compilePolicy, exceptionsFor, mergesObjects } from "./compile.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { isOldException, isOldPolicy, type KnownPolicy } from "./convert/index.js";
import { type Compilers, REQUEST_TYPES } from "./dialect.js";
import { expiryOf, isUnreadable } from "./expiry.js";
import { NamedObjects } from "./named-objects.js";
import { originOf } from "./old-rule-origin.js";
import { describeFailure, readResource } from "./read.js";
import { policiesOfRules, readOldExceptions } from "./read-old-policy.js";
import {
  type ContextEntryResource,
  type ExceptionResource,
  isImageValidating,
  isNamespaced,
  KYVERNO_DOCUMENTS,
  type Metadata,
  type PolicyResource,
} from "./resource.js";

// The checks of Kyverno when an exception is created, beside the schema (spec kyverno.md 5.1).

/** The most conditions that an exception may have. */
const MAX_MATCH_CONDITIONS = 64;

const PLAIN: EnvironmentOptions = {
  flavour: "kubernetes",
  version: "1.35",
  objectTypes: REQUEST_TYPES,
  variables: [
    { name: "object", type: DYN },
    { name: "oldObject", type: DYN },
    { name: "request", type: ADMISSION_REQUEST },
    { name: "namespaceObject", type: NAMESPACE },
  ],
};

/** The environment of exceptions, which are created without the policies that they name: those policies' variables and Kyverno's functions are unknown here. */
let plain: Environment | undefined;

/** The mistakes of an exception. */
export function exceptionErrors({ spec: { policyRefs = [], matchConditions = [] } }: ExceptionResource): FieldError[] {
  const errors: FieldError[] = [];
  const refs = ["spec", "policyRefs"];
  if (policyRefs.length === 0) errors.push(invalid(refs, [], "must specify at least one policy ref"));
  policyRefs.forEach(({ name = "", kind = "" }, i) => {
    if (name === "") errors.push(invalid([...refs, i, "name"], name, "must specify policy name"));
    if (kind === "") errors.push(invalid([...refs, i, "kind"], kind, "must specify policy kind"));
  });
  const path = ["spec", "matchConditions"];
  if (matchConditions.length > MAX_MATCH_CONDITIONS)
    errors.push(tooMany(path, matchConditions.length, MAX_MATCH_CONDITIONS));
  const seen = new Set<string>();
  matchConditions.forEach(({ name = "", expression = "" }, i) => {
    errors.push(...conditionErrors(expression, [...path, i, "expression"]));
    errors.push(...nameErrors(name, seen, [...path, i, "name"]));
  });
  return errors;
}

function conditionErrors(expression: string, path: FieldPath): FieldError[] {
  const source = trimSpace(expression);
  if (source === "") return [required(path)];
  plain ??= createEnvironment(PLAIN);
  const compiled = plain.compile(source);
  if (!compiled.ok) return [invalid(path, source, compiled.text)];
  return compiled.program.type.kind === "bool" ? [] : [invalid(path, source, "output is expected to be of type bool")];
}

/** The mistakes of a condition's name, which is added to the seen ones when it has none. */
function nameErrors(name: string, seen: Set<string>, path: FieldPath): FieldError[] {
  if (name === "") return [required(path)];
  const wrong = qualifiedNameErrors(name);
  if (wrong.length > 0) return wrong.map((error) => invalid(path, name, error));
  if (seen.has(name)) return [duplicate(path, name)];
  seen.add(name);
  return [];
}

/** The parts of a document that are used: its JSON value, and its maker of problems with their place. */
export type KyvernoDocument = Pick<SourceDocument, "value" | "problem">;

/** Options of preparing documents. */
export interface DocumentOptions {
  readonly compilers: Compilers;
  /** Milliseconds since 1970: an exception that has expired by then gets a warning. */
  readonly now: number;
  /** Whether NamespacedValidatingPolicies may use `http` (spec kyverno.md 1.7); default no. */
  readonly httpInNamespaced?: boolean;
  /** The schemas by which expressions are examined; absent: they are not. */
  readonly schemas?: SchemaSource;
  /** CustomResourceDefinitions beside the documents, where no cluster says what custom resources look like; absent: one does. */
  readonly definitions?: readonly JsonObject[];
  /** The error of a projection's path; default: none. */
  readonly jmesPathError?: JmesPathError;
  /** The index of the only rule that counts of an old policy; absent: all do. */
  readonly onlyRule?: number | undefined;
}

/** The contents of the documents. Those with mistakes are left out. */
export interface PreparedDocuments {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly ExceptionResource[];
  readonly contextEntries: readonly ContextEntryResource[];
  /** Objects of other kinds. */
  readonly objects: readonly JsonObject[];
  readonly problems: readonly Problem[];
  /** Rules of old policies that are not converted, as errors, and notes on others: the policies that stand for them are served all the same. */
  readonly unconverted: readonly Problem[];
}

interface Found<R> {
  readonly resource: R;
  readonly document: KyvernoDocument;
}

/** The readable part of a policy whose mistakes are reported already. */
interface Broken extends Found<PolicyResource> {
  readonly mistakes: readonly FieldError[];
}

/** Whether a policy has metadata and spec: with mistakes either may be anything. */
const isWhole = ({ metadata, spec }: Partial<PolicyResource>): boolean => isObject(metadata) && isObject(spec);

/** Further mistakes of a policy that can't be decoded as it is. */
function moreMistakes(
  { resource, document, mistakes }: Broken,
  { compilers, httpInNamespaced }: DocumentOptions,
): readonly Problem[] {
  const errors = [
    ...allMistakes(resource, [], compilers),
    ...checkPolicy(resource, new NamedObjects(), httpInNamespaced),
  ];
  return problemsOf(
    errors.filter((error) => !isConsequence(error, mistakes)),
    document,
  );
}

/** The namespace of objects that name none. */
const DEFAULT_NAMESPACE = "default";

/** Prepares documents: lists are opened, and names are unique. */
export function prepareDocuments(documents: readonly KyvernoDocument[], options: DocumentOptions): PreparedDocuments {
  const problems: Problem[] = [];
  const policies: Found<PolicyResource>[] = [];
  const exceptions: Found<ExceptionResource>[] = [];
  const contextEntries: ContextEntryResource[] = [];
  const objects: JsonObject[] = [];
  const broken: Broken[] = [];
  const unconverted: Problem[] = [];
  const known: KnownPolicy[] = [];
  const oldExceptions: KyvernoDocument[] = [];
  for (const document of documents) {
    if (isOldPolicy(document.value)) {
      policies.push(
        ...policiesOfRules(document, document.value, { problems, unconverted }, { onlyRule: options.onlyRule, known }),
      );
      continue;
    }
    if (isOldException(document.value)) {
      oldExceptions.push(document);
      continue;
    }
    const read = readResource(document.value);
    switch (read.kind) {
      case "unreadable":
        problems.push(
          ...read.failures.map((failure) => document.problem("error", failure.path, describeFailure(failure))),
        );
        if (read.rest !== undefined && isWhole(read.rest))
          broken.push({ resource: read.rest, document, mistakes: read.failures });
        break;
      case "policy":
        policies.push({
          resource: inNamespace(read.resource, isNamespaced(read.resource)),
          document,
        });
        break;
      case "exception": {
        const errors = problemsOf(exceptionErrors(read.resource), document);
        problems.push(...errors);
        if (errors.length === 0) exceptions.push({ resource: inNamespace(read.resource, true), document });
        break;
      }
      case "context-entry": {
        const errors = problemsOf(checkContextEntry(read.resource, options.jmesPathError), document);
        problems.push(...errors);
        if (errors.length === 0) contextEntries.push(read.resource);
        break;
      }
      case "other":
        if (isObject(document.value)) objects.push(document.value);
    }
  }
  for (const document of oldExceptions) {
    const read = readOldExceptions([document.value as ExceptionResource], known);
    // It exempts from nothing: more is denied, and nothing passes by it.
    for (const { reason } of read.idle)
      unconverted.push({
        ...document.problem("warning", reason.path, `the exception has no effect: ${reason.message}`),
        code: "POLICY_NOT_CONVERTED",
      });
    exceptions.push(...read.exceptions.map((resource) => ({ resource: inNamespace(resource, true), document })));
  }
  for (const each of broken) problems.push(...moreMistakes(each, options));
  const named = [...policies, ...broken];
  for (const exception of exceptions) problems.push(...warningsAbout(exception, named, options.now));
  return {
    policies: compileAll(policies, exceptions, options, { problems, unconverted }),
    exceptions: exceptions.map(({ resource }) => resource),
    contextEntries,
    objects,
    problems,
    unconverted,
  };
}

/** A resource with the namespace that a cluster gives it: one of a namespaced kind gets one, and one of another kind loses any. */
function inNamespace<R extends { readonly metadata: Metadata }>(resource: R, namespaced: boolean): R {
  const { namespace: given = "", ...rest } = resource.metadata;
  const namespace = given === "" ? DEFAULT_NAMESPACE : given;
  return { ...resource, metadata: namespaced ? { ...rest, namespace } : rest };
}

function compileAll(
  policies: readonly Found<PolicyResource>[],
  exceptions: readonly Found<ExceptionResource>[],
  { compilers, httpInNamespaced, schemas, definitions }: DocumentOptions,
  { problems, unconverted }: { readonly problems: Problem[]; readonly unconverted: Problem[] },
): readonly CompiledPolicy[] {
  const objects = new NamedObjects();
  const resources = exceptions.map(({ resource }) => resource);
  return policies.flatMap(({ resource, document }) => {
    const misplaced = modeError(resource) ?? targetsError(resource);
    if (misplaced !== undefined) {
      problems.push(...problemsOf([misplaced], document));
      return [];
    }
    const own = exceptionsFor(resource, resources);
    const found = checkPolicy(resource, objects, httpInNamespaced);
    const isRule = resource.converted !== undefined;
    const compiled =
      isRule && found.length > 0 ? brokenRule(resource, found, compilers) : compilePolicy(resource, own, compilers);
    if (compiled.ok && compiled.mistakes !== undefined)
      unconverted.push(...compiled.mistakes.map((mistake) => fieldProblem(document, "error", mistake)));
    const mistakes = isRule ? [] : problemsOf(found, document);
    if (!compiled.ok) {
      // Mistakes of variants, which repeat the policy's, are reported only where the policy itself is right.
      const whole = compiled.errors.some(({ variant }) => variant === "");
      for (const { exception, variant, ...error } of whole ? allMistakes(resource, own, compilers) : compiled.errors) {
        const at = exceptions.find((each) => each.resource === exception)?.document ?? document;
        // A variant's expression does not stand in the file.
        if (variant === "") problems.push(fieldProblem(at, "error", error));
        else {
          const where = ` (in the variant ${variant}, which is made for pod controllers)`;
          const told = error.mistakes?.map(({ message }) => ({
            line: -1,
            column: 0,
            message: plainWords(message) + where,
          }));
          problems.push(
            fieldProblem(at, "error", { ...error, text: error.text + where, hint: undefined, mistakes: told }),
          );
        }
      }
    }
    problems.push(...mistakes);
    if (resource.converted?.reason === undefined)
      problems.push(...policyWarnings(resource).map((warning) => fieldProblem(document, "warning", warning)));
    if (!compiled.ok || mistakes.length > 0) return [];
    if (definitions !== undefined && mergesObjects(compiled.policy.variants)) {
      const refused = "apply configurations fail there";
      const { warnings } = unknownGroups(resource.spec.matchConstraints, definitions, refused);
      problems.push(
        ...warnings.map((each) => fieldProblem(document, "warning", { ...each, path: ["spec", ...each.path] })),
      );
    }
    const undeclared = compiled.policy.variants[0]?.images?.undeclared ?? [];
    problems.push(...undeclared.map((warning) => fieldProblem(document, "warning", warning)));
    if (schemas !== undefined) problems.push(...doubtsAbout(compiled.policy, document, schemas));
    return [compiled.policy];
  });
}

/** Doubts about the expressions as they are written. */
function doubtsAbout(
  { variants }: CompiledPolicy,
  document: KyvernoDocument,
  schemas: SchemaSource,
): readonly Problem[] {
  const [base] = variants;
  if (base?.mode !== "Kubernetes") return [];
  const { spec, conditions, variables, validations, mutations, annotations } = base;
  const names = (spec.variables ?? []).map(({ name }) => name);
  const keys = (spec.auditAnnotations ?? []).map(({ key }) => key);
  const examined = {
    match: spec.matchConstraints,
    emptyObjects: true,
    conditions: conditions.map((expression, i) => ({ path: ["matchConditions", i, "expression"], expression })),
    variables: [...variables].map(([name, expression]) => {
      return { path: ["variables", names.lastIndexOf(name), "expression"], expression, name };
    }),
    groups: [
      ...validations.map(({ expression, messageExpression }, i) => [
        { path: ["validations", i, "expression"], expression },
        { path: ["validations", i, "messageExpression"], expression: messageExpression },
      ]),
      ...mutations.map(({ at, patchType, expressions }) => {
        const member = patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
        return [{ path: ["mutations", at, member, "expression"], expression: expressions[0] }];
      }),
      ...annotations.map(({ key, expression }) => [
        { path: ["auditAnnotations", keys.lastIndexOf(key), "valueExpression"], expression },
      ]),
    ],
  };
  const { nulls, absent } = expressionDoubts(examined, schemas);
  const problem = (severity: Problem["severity"]) => (doubt: FieldError) =>
    fieldProblem(document, severity, { ...doubt, path: ["spec", ...doubt.path] });
  // The documents may be of others, who mean the failure.
  return [...nulls.map(problem("warning")), ...absent.map(problem("note"))];
}

const problemsOf = (errors: readonly FieldError[], document: KyvernoDocument): readonly Problem[] =>
  errors.map((error) => fieldProblem(document, "error", error));

/** Warnings about exceptions that Kyverno accepts, but that exempt from nothing. */
function warningsAbout(
  { resource, document }: Found<ExceptionResource>,
  policies: readonly Found<PolicyResource>[],
  now: number,
): readonly Problem[] {
  const problems: Problem[] = [];
  (resource.spec.policyRefs ?? []).forEach(({ name, kind }, i) => {
    const ours = KYVERNO_DOCUMENTS.policies.some((type) => type.kind === kind);
    if (policies.some(({ resource }) => resource.metadata.name === name && resource.kind === kind)) {
      const { images = [], allowedValues = [] } = resource.spec;
      if (isImageValidating({ kind: kind ?? "" }) && images.length + allowedValues.length > 0) {
        const text = `the exception has no effect: an exception from such a policy is for the whole of it: leave out images and allowedValues`;
        problems.push(document.problem("warning", ["spec", "policyRefs", i], text));
      }
      return;
    }
    const rules = policies.filter(({ resource }) => originOf(resource)?.policy === name);
    const becomes = rules.map(({ resource }) => `${resource.kind} ${resource.metadata.name ?? ""}`).join(", ");
    const isOld = kind === "ClusterPolicy" || kind === "Policy";
    const what =
      isOld && becomes !== ""
        ? `name what its rules become: ${becomes}`
        : ours
          ? `there is no ${kind} ${JSON.stringify(name)}`
          : `${JSON.stringify(kind)} is not a kind of policies here`;
    problems.push(document.problem("warning", ["spec", "policyRefs", i], `the exception has no effect: ${what}`));
  });
  const expiry = expiryOf(resource);
  if (!isUnreadable(expiry) && expiry.at < now) {
    problems.push(
      document.problem("warning", expiry.written?.path ?? [], "the exception has expired, and has no effect"),
    );
  }
  return problems;
}
