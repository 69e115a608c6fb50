/** Reads policies of the old language (ClusterPolicy, Policy of kyverno.io): each rule is converted to a policy, or stands for an error. */
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { type FieldPath, formatPath } from "../../kubernetes/field-error.js";
import { isObject, type JsonObject, member } from "../../kubernetes/object.js";
import {
  type ConvertedRule,
  convertException,
  convertPolicy,
  isOldException,
  type KnownPolicy,
  type Reason,
  standIns,
} from "./convert/index.js";
import type { OldRule } from "./convert/old-policy.js";
import { describeFailure, type ReadResource, readResource } from "./read.js";
import type { ExceptionResource, PolicyResource } from "./resource.js";

/** A policy of a rule. */
export interface RulePolicy {
  readonly resource: PolicyResource;
  /** The place in the old policy of a place in this one; the nearest one that is known. */
  readonly placeOf: (path: FieldPath) => FieldPath;
}

/** One rule. */
export interface ReadRule {
  readonly policies: readonly RulePolicy[];
  /** Why it is not converted: then its policies only match. Places are those in the old policy. */
  readonly reason?: Reason;
  /** Parts that are not quite as they were. */
  readonly notes: readonly Reason[];
}

/** An old policy. */
export interface ReadOldPolicy {
  /** Itself with the documents of its rules, by which exceptions know it: those that stand for a rule are among them. */
  readonly known: KnownPolicy;
  readonly rules: readonly ReadRule[];
  /** Why the whole policy is refused, as Kyverno refuses it. */
  readonly reasons: readonly Reason[];
}

/** Reads an old policy. Never throws. */
export function readOldPolicy(policy: JsonObject): ReadOldPolicy {
  const converted = convertPolicy(policy);
  const rules = converted.rules.map((rule) => readRule(policy, rule));
  // A rule must not be lost: one for which nothing can stand makes the whole policy unusable.
  const lost = rules.flatMap(({ policies, reason }) => (policies.length === 0 && reason ? [reason] : []));
  const conversion = {
    ...converted,
    rules: converted.rules.map((rule, i) => {
      const documents = (rules[i]?.policies ?? []).map(({ resource }) => ({
        value: { ...resource } as JsonObject,
        places: new Map<string, FieldPath>(),
      }));
      return { ...rule, documents };
    }),
  };
  return { known: { policy, conversion }, rules, reasons: [...converted.reasons, ...lost] };
}

/** Exceptions, those of the old language converted. */
export interface ReadExceptions {
  readonly exceptions: readonly ExceptionResource[];
  /** Old ones that exempt from nothing, and why. */
  readonly idle: readonly { readonly exception: JsonObject; readonly reason: Reason }[];
}

/** Converts the exceptions of the old language among others. @param known the policies that they may name */
export function readOldExceptions(all: readonly ExceptionResource[], known: readonly KnownPolicy[]): ReadExceptions {
  const idle: { exception: JsonObject; reason: Reason }[] = [];
  const exceptions = all.flatMap((exception) => {
    if (!isOldException(exception)) return [exception];
    const { documents, reasons } = convertException(exception, known);
    idle.push(...reasons.map((reason) => ({ exception, reason })));
    return documents.map(readResource).flatMap((read) => (read.kind === "exception" ? [read.resource] : []));
  });
  return { exceptions, idle };
}

function readRule(policy: JsonObject, converted: ConvertedRule): ReadRule {
  const { index, documents, notes } = converted;
  const rule = ruleAt(member(member(policy, "spec"), "rules"), index);
  const old: OldRule = { policy, rule, index, name: converted.rule, circumstances: {} };
  const path: FieldPath = ["spec", "rules", index];
  let [reason] = converted.reasons;
  const policies: RulePolicy[] = [];
  for (const { value, places } of documents) {
    const read = readResource(value);
    const placeOf = (at: FieldPath) => placed(places, at) ?? path;
    if (read.kind === "policy") policies.push({ resource: { ...read.resource, converted: {} }, placeOf });
    else reason ??= { path, message: unreadable(read) };
  }
  if (reason === undefined) return { policies, notes };
  const { message } = reason;
  const only = standIns(old, converted.documentName, converted.action).map(readResource);
  return {
    policies: only.flatMap((read) =>
      read.kind === "policy"
        ? [{ resource: { ...read.resource, converted: { reason: message } }, placeOf: () => path }]
        : [],
    ),
    reason,
    notes,
  };
}

function ruleAt(rules: unknown, index: number): JsonObject {
  const rule: unknown = Array.isArray(rules) ? rules[index] : undefined;
  return isObject(rule) ? rule : {};
}

/** The place of the longest beginning of the path that has one, with the rest of the path. */
function placed(places: ReadonlyMap<string, FieldPath>, path: FieldPath): FieldPath | undefined {
  for (let end = path.length; end > 0; end--) {
    const from = places.get(formatPath(path.slice(0, end)));
    if (from !== undefined) return [...from, ...path.slice(end)];
  }
  return undefined;
}

const unreadable = (read: ReadResource): string =>
  read.kind === "unreadable" ? read.failures.map(describeFailure).join("; ") : "what it becomes is not served here";

/** The document of an old policy: its value, and its maker of problems with their place. */
type SourceOfPolicy = Pick<SourceDocument, "value" | "problem">;

/** A policy of a rule, and a document that places its problems in the old one. */
interface PlacedPolicy {
  readonly resource: PolicyResource;
  readonly document: SourceOfPolicy;
}

/** The policies of an old policy's rules, each with its places in the old document; problems are added to the given ones. */
export function policiesOfRules(
  document: SourceOfPolicy,
  value: JsonObject,
  { problems, unconverted }: { readonly problems: Problem[]; readonly unconverted: Problem[] },
  { onlyRule, known }: { readonly onlyRule: number | undefined; readonly known: KnownPolicy[] },
): readonly PlacedPolicy[] {
  const { rules, reasons, known: self } = readOldPolicy(value);
  known.push(self);
  problems.push(...reasons.map(({ path, message }) => document.problem("error", path, message)));
  if (reasons.length > 0) return [];
  const chosen = onlyRule === undefined ? rules : rules.slice(onlyRule, onlyRule + 1);
  return chosen.flatMap(({ policies, reason, notes }) => {
    if (reason !== undefined) unconverted.push(notConverted(document, reason.path, reason.message));
    unconverted.push(...notes.map(({ path, message }) => document.problem("note", path, message)));
    return policies.map(({ resource, placeOf }) => ({
      resource: {
        ...resource,
        converted: { ...resource.converted, placeOf: shownPlace(document, placeOf) },
      },
      document: {
        value: resource,
        problem: (severity, path, message, inner, about) =>
          document.problem(severity, placeOf(path), message, inner, about),
      },
    }));
  });
}

const notConverted = (document: SourceOfPolicy, path: FieldPath, message: string): Problem =>
  document.problem("error", path, `not converted: ${message}`, undefined, { code: "POLICY_NOT_CONVERTED" });

/** The line of a part in the old file. */
const shownPlace =
  (document: SourceOfPolicy, placeOf: (path: FieldPath) => FieldPath) =>
  (path: FieldPath): string => {
    const { file, line } = document.problem("note", placeOf(path), "");
    return `${file}:${line}`;
  };
