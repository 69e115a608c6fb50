import { identityOf, isForeign, opened, repeatedDocuments } from "../config/documents/documents.js";
import { adviceOn, type KnownKind, knownKind } from "../config/documents/known-kinds.js";
import type { Problem } from "../config/documents/problem.js";
import type { SourceDocument } from "../config/documents/source-document.js";
import type { ResourceEntry } from "../config/entry.js";
import { printedOnce } from "../data/printed-once.js";
import { evaluateInTime } from "../policy/evaluate-in-time.js";
import { EvaluationRun } from "../policy/evaluation-run.js";
import type { EvaluationContext, Failure, Mutation, Outcome, Policy, Review } from "../policy/index.js";
import { allNeeds } from "../world/needs.js";
import type { OuterWorld } from "../world/world.js";
import { askTogether, mostSevere } from "./ask-together.js";
import type { DocumentKind, DocumentType, PreparedEntry, Warn } from "./kind.js";
import { LoadError } from "./load-error.js";

// Policies that change the object and policies that judge it in one entry: as in a cluster, the changed object is judged.

/**
 * Several policies as one. If those that mutate answer anything but yes, that is the answer, and the others are not evaluated.
 * @param mutating evaluated first, at least one
 * @param judging evaluated about the changed object, at least one; they may change it further
 * @param now monotonic milliseconds
 */
export function askInTurn(
  id: string,
  mutating: readonly Policy[],
  judging: readonly Policy[],
  now: () => number,
): Policy {
  const parts = [...mutating, ...judging].flatMap((policy) => policy.together ?? [policy]);
  const all = askTogether(id, parts, now);
  const first = askTogether(id, mutating, now);
  const then = askTogether(id, judging, now);
  const goOn = (review: Review, context: EvaluationContext, left: Outcome): Outcome | Promise<Outcome> => {
    if (left.verdict === "error" || left.verdict === "deny") return left;
    const mutation = left.verdict === "allow" ? left.mutation : undefined;
    const about = mutation === undefined ? review : mutated(review, mutation);
    if ("verdict" in about) return about;
    const judged = evaluateInTime(then, about, EvaluationRun.within(context, context.deadline), now);
    return judged instanceof Promise ? judged.then((outcome) => bothOf(left, outcome)) : bothOf(left, judged);
  };
  return {
    ...all,
    evaluate(review: Review, context: EvaluationContext) {
      const left = evaluateInTime(first, review, EvaluationRun.within(context, context.deadline), now);
      return left instanceof Promise
        ? left.then((outcome) => goOn(review, context, outcome))
        : goOn(review, context, left);
    },
  };
}

/** The outcome of two, of which the second is about what the first has left: the steps of both, one after the other. */
function bothOf(left: Outcome, then: Outcome): Outcome {
  const [one, two] = [patchOf(left), patchOf(then)];
  if (one === undefined || two === undefined || left.verdict !== "allow") return mostSevere([left, then]);
  const { mutation: _, ...unchanged } = left;
  const both = mostSevere([unchanged, then]);
  // Both are lists in JSON.
  const steps = [one, two].map(({ patch }) => Buffer.from(patch, "base64").toString().slice(1, -1));
  const patch = `[${steps.filter((each) => each !== "").join()}]`;
  const mutation = { ...two, patch: Buffer.from(patch).toString("base64") };
  return both.verdict === "allow" ? { ...both, mutation } : both;
}

const patchOf = (outcome: Outcome) =>
  outcome.verdict === "allow" && outcome.mutation?.kind === "patch" ? outcome.mutation : undefined;

/** The same review about the object after a mutation. */
function mutated(review: Review, mutation: Mutation): Review | Failure {
  if (mutation.kind !== "patch" || mutation.changed === undefined) return UNKNOWN;
  const { object } = mutation.changed;
  if (review.kind === "raw") return { ...review, payload: object, requestBytes: printedOnce(object) };
  const request = { ...review.request, object };
  return { ...review, request, requestBytes: printedOnce(request) };
}

/** The failure of a review that cannot be judged, which is never a yes. */
const UNKNOWN: Failure = {
  verdict: "error",
  message: "what a policy makes of the object is not known to those that judge it",
  cause: "mutation",
};

/** API groups whose documents are policies in a cluster: here they have no effect, which deserves a warning. */
const POLICY_GROUPS: ReadonlySet<string> = new Set([
  // By itself in a file it is an entry of its own.
  "policies.kubewarden.io",
  "kyverno.io",
  "policies.kyverno.io",
  "policy.cert-manager.io",
  "templates.gatekeeper.sh",
  "constraints.gatekeeper.sh",
]);
/**
 * Prepares the policies of a `resource:` entry, documents of any kinds: all of one kind together, and the kinds together; those that
 * mutate first, each about what the one before has left, as Kubernetes' own come before webhooks.
 * @throws LoadError when no document is a policy of a known kind, or one is broken, or may be a policy that would silently be missing
 */
export function prepareDocuments(entry: ResourceEntry, kinds: readonly DocumentKind[], warn: Warn): PreparedEntry {
  const documents = opened(entry.documents);
  const kindOf = new Map(documents.map((document) => [document, kinds.find((kind) => owns(kind, document))]));
  const others = documents.filter((document) => kindOf.get(document) === undefined);
  const errors: Problem[] = [];
  const unknown = new Set<SourceDocument>();
  for (const document of others) {
    const problems = unrecognised(document, kinds);
    if (problems.length > 0) unknown.add(document);
    errors.push(...problems);
  }
  /** Companions without a policy of their kind. */
  const idle: SourceDocument[] = [];
  const prepared: PreparedEntry[] = [];
  const mutating: PreparedEntry[] = [];
  for (const kind of kinds) {
    const own = documents.filter((document) => kindOf.get(document) === kind);
    if (!own.some((document) => isOneOf(kind.policies, document))) {
      idle.push(...own);
      continue;
    }
    errors.push(...repeatedDocuments(own));
    const { id, validationActions, certificateRequests, optionalCompanions, onlyRule } = entry;
    const settings = {
      ...(validationActions && { validationActions }),
      ...(certificateRequests && { certificateRequests }),
      ...(optionalCompanions !== undefined && { optionalCompanions }),
      ...(onlyRule !== undefined && { onlyRule }),
      ...(entry.allowedToMutate && { allowedToMutate: true }),
    };
    try {
      const made = kind.prepare({ id, own, others, ...settings }, warn);
      prepared.push(made, ...(made.judging === undefined ? [] : [made.judging]));
      if (made.mutates === undefined) continue;
      mutating.push(made);
      warnOfRefusals(entry, made.mutates, warn);
    } catch (error) {
      // An error without problems must not be lost: the other policies would be served without this one.
      if (!(error instanceof LoadError) || error.problems.length === 0) throw error;
      errors.push(...error.problems);
    }
  }
  // If no policy is served, the error names them.
  for (const document of prepared.length + errors.length > 0 ? others : []) {
    if (!unknown.has(document) && (isPolicyElsewhere(document) || isForeign(document))) warn(withoutEffect(document));
  }
  if (prepared.length > 0) for (const document of idle) warn(withoutEffect(document));
  if (errors.length > 0) throw LoadError.of(errors);
  const [only] = prepared;
  if (only === undefined) throw noPolicy(entry, documents, kinds);
  if (prepared.length === 1) return only;
  const judging = prepared.filter((each) => !mutating.includes(each));
  const policiesOf = (some: readonly PreparedEntry[], world: OuterWorld): Promise<Policy[]> =>
    Promise.all(some.map((each) => each.policy(world)));
  return {
    needs: allNeeds(prepared.map(({ needs }) => needs)),
    policy: async (world) => {
      const [first, then] = [await policiesOf(mutating, world), await policiesOf(judging, world)];
      let policies = then;
      for (const policy of first.reverse())
        policies = policies.length === 0 ? [policy] : [askInTurn(entry.id, [policy], policies, world.now)];
      const [whole, ...others] = policies;
      return whole !== undefined && others.length === 0 ? whole : askTogether(entry.id, policies, world.now);
    },
  };
}

/** Warns of mutations that the entry does not allow: they are refused when they happen. */
function warnOfRefusals(entry: ResourceEntry, mutating: readonly string[], warn: Warn): void {
  // In monitor mode a mutation is neither refused nor applied.
  if (entry.allowedToMutate || entry.policyMode === "monitor") return;
  const names = mutating.join(" or ");
  const isMember = entry.id.includes("/");
  const advice = isMember
    ? "members of a group never mutate; to let it change objects, make it an entry of its own with allowedToMutate: true"
    : "to let it change objects, write allowedToMutate: true";
  warn(entry.origin.warning(["resource"], `every request that a ${names} would change is refused: ${advice}`));
}

function noPolicy(
  entry: ResourceEntry,
  documents: readonly SourceDocument[],
  kinds: readonly DocumentKind[],
): LoadError {
  const notServed = documents.flatMap((document) => {
    const kind = knownKind(identityOf(document));
    return kind?.use === "none" ? [problemOfKind(document, kind)] : [];
  });
  if (notServed.length > 0) return LoadError.of(notServed);
  const found = [...new Set(documents.map(nameOf))];
  const known = kinds.flatMap(({ policies }) => policies).map(({ group, kind }) => `${kind} of ${group}`);
  const message = `the files hold no policy: found ${found.join(", ") || "no document"}; expected a ${known.join(", or a ")}`;
  return new LoadError(message, [entry.origin.error(["resource"], message, undefined, { code: "POLICY_KIND" })]);
}

/** The problem of a document of a known kind that this server does not evaluate. */
const problemOfKind = (document: SourceDocument, kind: KnownKind): Problem => ({
  ...document.problem("error", ["kind"], `this is ${kind.what}: it is not evaluated here`),
  code: "POLICY_KIND",
  hint: adviceOn(kind),
});

/** The warning for a document that has no effect beside policies that are served. */
function withoutEffect(document: SourceDocument): Problem {
  const kind = knownKind(identityOf(document));
  const problem = document.problem("warning", ["kind"], `${nameOf(document)} has no effect here`);
  return { ...problem, code: "POLICY_KIND", ...(kind !== undefined && { hint: adviceOn(kind) }) };
}

/** The problem of a document of an unknown kind. One that is merely misspelt must not be treated as absent. */
function unrecognised(document: SourceDocument, kinds: readonly DocumentKind[]): readonly Problem[] {
  const { kind, version } = identityOf(document);
  if (isForeign(document)) return [];
  const missing = [...(version === "" ? ["apiVersion"] : []), ...(kind === "" ? ["kind"] : [])];
  if (missing.length > 0) {
    return missing.map((key) => document.problem("error", [key], `missing: every document says its ${key}`));
  }
  const known = kinds.flatMap(({ policies, companions }) => [...policies, ...companions]);
  const listed = /^(.+)List$/.exec(kind)?.[1];
  if (known.some((type) => type.kind === listed)) {
    return [document.problem("error", ["items"], `must be a list: it has the documents of a ${kind}`)];
  }
  const namesakes = known.filter((type) => type.kind === kind);
  // A companion of policies of another API, such as an exception, does not affect ours.
  const companion = !kinds.some(({ policies }) => policies.some((type) => type.kind === kind));
  if (namesakes.length === 0 || (companion && isPolicyElsewhere(document))) return [];
  const groups = namesakes.map(({ group }) => `"${group}/<version>"`);
  const message = `${nameOf(document)} is not known here: expected the apiVersion ${groups.join(" or ")}`;
  return [document.problem("error", ["apiVersion"], message)];
}

const owns = ({ policies, companions }: DocumentKind, document: SourceDocument): boolean =>
  isOneOf(policies, document) || isOneOf(companions, document);

/** Whether a document is of one of the types. */
export function isOneOf(types: readonly DocumentType[], document: SourceDocument): boolean {
  const { group, kind } = identityOf(document);
  return types.some((type) => type.group === group && type.kind === kind);
}

function isPolicyElsewhere(document: SourceDocument): boolean {
  return POLICY_GROUPS.has(identityOf(document).group);
}

/** `ClusterPolicy of kyverno.io/v1`, `ConfigMap of v1`. */
function nameOf(document: SourceDocument): string {
  const { group, version, kind } = identityOf(document);
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return kind === "" ? "a document without a kind" : `${kind} of ${apiVersion || "no apiVersion"}`;
}
