/** Kyverno's policies as a {@link Policy}: one, or all of a set together. */

import { formatPath } from "../../kubernetes/field-error.js";
import { text } from "../../kubernetes/object.js";
import type { Failure, Outcome } from "../../policy/outcome.js";
import type { EvaluationContext, NeverDenying, Policy, PolicyRule } from "../../policy/policy.js";
import type { Review } from "../../policy/review.js";
import type { World } from "../../world/world.js";
import type { CoveredExpression, Wanted, WithExpressions } from "../shared/coverage/coverage.js";
import type { Explainable, ExplainedPolicy, PlacedExpression } from "../shared/explain/explainable.js";
import type { Expression } from "../shared/expressions/expression.js";
import { isOperation } from "../shared/match/exempt.js";
import { leavesOutNamespace } from "../shared/match/match-resources.js";
import { type Changes, changedOutcome, changesBetween } from "../shared/mutation/changes.js";
import type { FindTypes } from "../shared/mutation/merge-types.js";
import type { Watcher } from "../shared/watcher.js";
import type { CompiledPolicy, CompiledVariant } from "./compiled-policy.js";
import { type EngineAnswer, KyvernoEngine } from "./engine/engine.js";
import type { AdmissionInput, EngineInput } from "./engine/engine-request.js";
import type { RuleResult } from "./engine/response.js";
import { outcomeOf } from "./outcome.js";
import { isMutating, isNamespaced, judgesNothing, type Metadata } from "./resource.js";

/** The expressions of a policy with their places: validations and match conditions must be seen both true and false, the others evaluated. */
function* expressionsOf({ variants: [base] }: CompiledPolicy): Iterable<CoveredExpression> {
  if (base !== undefined) yield* expressionsOfVariant(base);
}

/** The expressions of a variant. */
function* expressionsOfVariant(variant: CompiledVariant): Iterable<CoveredExpression> {
  const { conditions, variables, validations, annotations, images } = variant;
  const names = (variant.spec.matchConditions ?? []).map(({ name }) => name);
  yield* each(variant, "matchConditions", "expression", conditions, "both", names);
  const { matchers = [], extractors = new Map<string, Expression>(), attestors = [] } = images ?? {};
  const references = matchers.map((matcher) => ("expression" in matcher ? matcher.expression : undefined));
  yield* each(variant, "matchImageReferences", "expression", references, "both");
  yield* each(variant, "images", "expression", [...extractors.values()], "evaluated", [...extractors.keys()]);
  yield* each(variant, "variables", "expression", [...variables.values()], "evaluated", [...variables.keys()]);
  const policy = variant.policy.metadata.name ?? "";
  for (const { name, expressions, paths } of attestors)
    for (const [i, expression] of expressions.entries())
      yield { policy, path: formatPath(paths[i] ?? []), name, expression, wanted: "evaluated" };
  const [expressions, messages] = [
    validations.map(({ expression }) => expression),
    validations.map(({ messageExpression }) => messageExpression),
  ];
  yield* each(variant, "validations", "expression", expressions, "both");
  yield* each(variant, "validations", "messageExpression", messages, "evaluated");
  for (const { at, patchType, expressions } of variant.mutations) {
    const member = patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
    const path = `spec.mutations[${at}].${member}.expression`;
    yield { policy, path, name: undefined, expression: expressions[0], wanted: "evaluated" };
  }
  const [values, keys] = [annotations.map(({ expression }) => expression), annotations.map(({ key }) => key)];
  yield* each(variant, "auditAnnotations", "valueExpression", values, "evaluated", keys);
}

function* each(
  { policy: { metadata, converted } }: CompiledVariant,
  list: string,
  member: string,
  expressions: readonly (Expression | undefined)[],
  wanted: Wanted,
  names: readonly (string | undefined)[] = [],
): Iterable<CoveredExpression> {
  for (const [i, expression] of expressions.entries()) {
    const place = converted?.placeOf?.(["spec", list, i]);
    const path = `spec.${list}[${i}].${member}${place === undefined ? "" : ` (${place})`}`;
    if (expression !== undefined) yield { policy: metadata.name ?? "", path, name: names[i], expression, wanted };
  }
}

// A policy for explanations: each of its variants for pod controllers with its own expressions.

/** A policy, for explanations. */
function explainedPolicy(policy: CompiledPolicy): ExplainedPolicy {
  const { variants } = policy;
  return {
    title: titleOf(policy),
    variants: variants.map((variant) => ({
      part: variant,
      ...(variant.name !== "" && { label: (kind: string) => labelOf(variant, kind) }),
      expressions: [...conditionsOfExceptions(variant), ...expressionsOfVariant(variant)],
    })),
  };
}

/** The result of a policy that matched, in the engine's terms. */
function foundText({ rule, status, message }: RuleResult): string {
  switch (status) {
    case "pass":
      return rule === "" ? "pass" : `pass: ${message}`;
    case "skip":
      return `does not apply: ${rule === "" ? "a match condition is false" : message}`;
    case "fail":
      return `fail: ${message}`;
    case "error":
      return rule === "" ? message : `error: ${message}`;
  }
}

/** `for Deployments (autogen)`: for the requested kind, or for all kinds that the variant matches. */
function labelOf({ targets }: CompiledVariant, asked: string): string {
  const kinds = targets.map(({ kind }) => kind);
  const named = kinds.includes(asked) ? [asked] : kinds;
  return `for ${named.map((kind) => `${kind}s`).join(", ")} (autogen)`;
}

function* conditionsOfExceptions({ exceptions }: CompiledVariant): Iterable<PlacedExpression> {
  for (const { resource, conditions } of exceptions) {
    const exception = `${resource.kind} '${nameOf(resource.metadata)}'`;
    for (const [i, expression] of conditions.entries()) {
      const name = resource.spec.matchConditions?.[i]?.name;
      yield { path: `${exception}: spec.matchConditions[${i}].expression`, name, expression };
    }
  }
}

/** A policy, or the rule of a policy of the old language. */
function titleOf(policy: CompiledPolicy): string {
  const { origin, resource } = policy;
  const kind = writtenKind(policy);
  if (origin === undefined || resource.converted === undefined) return `${kind} '${nameOf(resource.metadata)}'`;
  return `${kind} '${nameOf({ ...origin, name: origin.policy })}', rule '${origin.rule}'`;
}

/** The kind as it is written. */
const writtenKind = ({ origin, resource: { kind, converted } }: CompiledPolicy): string =>
  origin === undefined || converted === undefined ? kind : origin.namespace === "" ? "ClusterPolicy" : "Policy";

const nameOf = ({ namespace = "", name = "" }: Metadata): string => (namespace === "" ? name : `${namespace}/${name}`);

/** The outcome of a request with an unknown operation, which no API server sends: a misspelt one must not bypass policies that name the right one. */
const UNKNOWN_OPERATION: Failure = {
  verdict: "error",
  message: "the request's operation is none of CREATE, UPDATE, DELETE and CONNECT",
  cause: "protocol",
};

/** The outcome of a request whose object does not name its kind: Kyverno refuses it, whatever its policies say. */
const UNKNOWN_KIND: Failure = {
  verdict: "error",
  message: "the request's object does not say its kind",
  cause: "protocol",
};

/** Whether an object is absent, or has apiVersion and kind. */
const saysItsKind = (object: unknown): boolean =>
  object === undefined || object === null || text(object, "kind") !== "";

/** Options of a set. */
export interface PolicySetOptions {
  readonly id: string;
  readonly world: World;
  /** In place of the policies' own actions. */
  readonly validationActions?: readonly string[] | undefined;
  /** Watches the result of each policy. */
  readonly watcher?: Watcher | undefined;
  /** Finds how objects are merged; with it the policies are mutating ones. */
  readonly findTypes?: FindTypes;
  /** Whether ImageValidatingPolicies only replace tags by digests: another set of the same policies judges. */
  readonly pins?: boolean;
}

/** Prepared policies that are evaluated together. */
export class KyvernoPolicySet implements Policy, WithExpressions, Explainable {
  readonly kind = "cel";
  readonly immediate = true;
  readonly id: string;
  readonly implementation: string;
  readonly #policies: readonly CompiledPolicy[];
  readonly #engine: KyvernoEngine;
  readonly #actions: readonly string[] | undefined;
  readonly #watcher: Watcher | undefined;
  readonly #pins: boolean;
  /** Whether raw reviews are evaluated as payloads: policies that match requests get the payload as their object. */
  readonly #payloads: boolean;

  constructor(
    policies: readonly CompiledPolicy[],
    { id, world, validationActions, watcher, findTypes, pins = false }: PolicySetOptions,
  ) {
    this.id = id;
    this.implementation = [...new Set(policies.map(writtenKind))].join(", ");
    this.#policies = policies;
    this.#engine = new KyvernoEngine(policies, { world, flavour: "server", findTypes, pins });
    this.#pins = pins;
    this.#actions = validationActions;
    this.#watcher = watcher;
    this.#payloads = policies.every(({ variants }) => variants.every(({ mode }) => mode === "JSON"));
  }

  /** The rules, with those of autogen's variants. */
  get rules(): readonly PolicyRule[] {
    return this.#policies.flatMap(({ variants }) => variants.flatMap(({ match }) => match?.written ?? []));
  }

  get neverDenying(): NeverDenying {
    if (this.#pins) return { names: [], of: 0 };
    const denies = (actions: readonly string[]): boolean => (this.#actions ?? actions).includes("Deny");
    // One without validations is for its annotations.
    const judges = this.#policies.filter(({ resource }) => !judgesNothing(resource) && !isMutating(resource));
    const never = judges.filter(({ actions }) => !denies(actions));
    return { names: never.map(({ resource }) => nameOf(resource.metadata)), of: this.#policies.length };
  }

  get notConverted(): readonly string[] {
    return this.#policies.flatMap(({ origin, resource: { metadata, converted } }) =>
      converted?.reason === undefined ? [] : [`${origin?.rule ?? nameOf(metadata)}: ${converted.reason}`],
    );
  }

  *expressions(): Iterable<CoveredExpression> {
    if (!this.#pins) for (const policy of this.#policies) yield* expressionsOf(policy);
  }

  explained(): readonly ExplainedPolicy[] {
    return this.#pins ? [] : this.#policies.map(explainedPolicy);
  }

  leavesOut(namespace: string, labels: Readonly<Record<string, string>>): boolean {
    return this.#policies.every(
      ({ resource: { kind, metadata }, variants }) =>
        (isNamespaced({ kind }) && metadata.namespace !== namespace) ||
        variants.every(({ match }) => match === undefined || leavesOutNamespace(match, labels)),
    );
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    const input = this.#inputOf(review);
    if (input.kind === "admission" && input.targeted !== true) {
      const { operation, object, oldObject } = input.request;
      if (!isOperation(operation)) return UNKNOWN_OPERATION;
      if (!saysItsKind(object) || !saysItsKind(oldObject)) return UNKNOWN_KIND;
    }
    const answer = this.#engine.decide(input, context);
    const before = input.kind === "admission" ? input.request.object : undefined;
    if (!(answer instanceof Promise)) return this.#outcome(answer, changesOf(answer, before));
    return answer.then(async (decided) => {
      // An evaluation that took long has a long answer, too: others have their turn before each half of it.
      const { turns } = context;
      if (decided.object !== undefined) await turns?.next();
      const changes = changesOf(decided, before);
      if (changes !== "none") await turns?.next();
      return this.#outcome(decided, changes);
    });
  }

  #outcome(answer: EngineAnswer, changes: Changes | "none"): Outcome {
    if (this.#watcher?.found !== undefined && !this.#pins) {
      for (const { variant, result } of answer.responses)
        if (result !== undefined) this.#watcher.found(variant, foundText(result));
    }
    const outcome = outcomeOf(answer, this.#actions);
    if (changes === "none" || outcome.verdict !== "allow") return outcome;
    return { ...outcome, ...changedOutcome(changes, answer.object) };
  }

  #inputOf(review: Review): EngineInput {
    if (review.kind === "admission") {
      const { request, targeted = false } = review;
      return { kind: "admission", request, targeted };
    }
    const { payload } = review;
    if (this.#payloads) return { kind: "json", payload };
    return { kind: "admission", request: requestAbout(payload), targeted: true };
  }
}

/** The changes of an answer. @param before the object of the request */
const changesOf = ({ object }: EngineAnswer, before: unknown): Changes | "none" =>
  object === undefined ? "none" : changesBetween(before, object);

/** A request about any JSON: `object` is the value, all else is empty. */
const requestAbout = (payload: unknown): AdmissionInput["request"] => ({
  uid: "",
  kind: { group: "", version: "", kind: "" },
  resource: { group: "", version: "", resource: "" },
  operation: "",
  userInfo: {},
  object: payload,
});
