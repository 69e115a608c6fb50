/** Reads policies of the old language (ClusterPolicy, Policy of kyverno.io): each rule is converted to a policy, or stands for an error. */
import { type FieldPath, formatPath } from "../../kubernetes/field-error.js";
import { isObject, type JsonObject, member } from "../../kubernetes/object.js";
import {
  type ConvertedRule,
  convertException,
  convertPolicy,
  isOldException,
  type KnownPolicy,
  NotConverted,
  type Reason,
  standIns,
} from "./convert/index.js";
import { controllersOf } from "./convert/match/autogen.js";
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
  const isAboutControllers = judgesControllers(old);
  const path: FieldPath = ["spec", "rules", index];
  let [reason] = converted.reasons;
  const policies: RulePolicy[] = [];
  for (const { value, places } of documents) {
    const read = readResource(value);
    const placeOf = (at: FieldPath) => placed(places, at) ?? path;
    if (read.kind === "policy")
      policies.push({ resource: { ...read.resource, converted: { isAboutControllers } }, placeOf });
    else reason ??= { path, message: unreadable(read) };
  }
  if (reason === undefined) return { policies, notes };
  const { message } = reason;
  const only = standIns(old, converted.documentName, converted.action).map(readResource);
  return {
    policies: only.flatMap((read) =>
      read.kind === "policy"
        ? [{ resource: { ...read.resource, converted: { reason: message, isAboutControllers } }, placeOf: () => path }]
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

function judgesControllers(old: OldRule): boolean {
  try {
    return controllersOf(old).length > 0;
  } catch (error) {
    if (error instanceof NotConverted) return true;
    throw error;
  }
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
