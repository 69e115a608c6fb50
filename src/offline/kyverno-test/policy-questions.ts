/** Evaluates policies of a test on its resources and payloads, one after the other. */
import { withDoubles } from "../../data/doubles.js";
import {
  type CompiledPolicy,
  type EngineAnswer,
  type EngineContext,
  type EngineInput,
  isMutating,
  KyvernoEngine,
  mutatingEngine,
  type PolicyResource,
  type PolicyResponse,
  resultOfOldRule,
} from "../../kinds/kyverno/index.js";
import { type JsonObject, text } from "../../kubernetes/object.js";
import type { Failure } from "../../policy/index.js";
import type { World } from "../../world/world.js";
import type { Operation } from "../scan/circumstances.js";
import { reportedPolicy } from "../scan/kyverno-judge.js";
import { admissionInput, type RequestCircumstances, requestFor } from "../scan/request.js";
import type { Resource } from "../scan/resource.js";
import type { AdmissionQuestions } from "./admission-questions.js";
import { reportedResult } from "./answer-result.js";
import type { Answer, Evaluated } from "./answers.js";

/** Options of the evaluation. */
export interface QuestionOptions extends Omit<RequestCircumstances, "operation"> {
  readonly world: World;
  /** ValidatingAdmissionPolicies and MutatingAdmissionPolicies. */
  readonly admission: AdmissionQuestions;
  /** Operations of policies of the old language, by their name and the resource's. */
  readonly operations: ReadonlyMap<string, ReadonlyMap<string, Operation>>;
  /** CustomResourceDefinitions, by which custom resources are merged. */
  readonly definitions: readonly JsonObject[];
}

/** No time limit: the cost of expressions is limited. */
const UNLIMITED: EngineContext = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/**
 * Compiled policies: those that mutate come first, and those for JSON are apart, since they are evaluated on resources as well, but in another way
 * (spec kyverno.md 6.1).
 */
export class PolicyQuestions {
  readonly #mutating: OneMode;
  readonly #kubernetes: OneMode;
  readonly #json: OneMode;
  readonly #options: QuestionOptions;

  constructor(policies: readonly CompiledPolicy[], options: QuestionOptions) {
    const { world } = options;
    const [mutating, judging] = [policies.filter(isMutatingPolicy), policies.filter((each) => !isMutatingPolicy(each))];
    const engine = (of: readonly CompiledPolicy[]) => new KyvernoEngine(of, { world, flavour: "command-line" });
    const [json, kubernetes] = [judging.filter(isJson), judging.filter((policy) => !isJson(policy))];
    this.#mutating = new OneMode(mutating, () => mutatingEngine(mutating, options));
    this.#kubernetes = new OneMode(kubernetes, () => engine(kubernetes));
    this.#json = new OneMode(json, () => engine(json));
    this.#options = options;
  }

  /**
   * Answers about a resource: what judges is asked about the object that what mutates has left.
   * @param isGiven whether that is the only operation, whatever the values say of single policies
   */
  async about(given: Resource, operation: Operation, isGiven = false): Promise<Evaluated> {
    const circumstances = { ...this.#options, operation };
    const native = await this.#options.admission.mutate(given, circumstances);
    const before = leftBy(given, native.object);
    const request = requestFor(before, circumstances);
    const mutated = await this.#mutating.mutate({ kind: "admission", request });
    const resource = leftBy(before, mutated.object);
    const { apiVersion, kind, namespace, name } = resource;
    const own = isGiven ? [] : this.#operationsFor(name);
    const others = new Map([...own].filter(([, other]) => other !== operation));
    const asked = (of: Operation) => admissionInput(requestFor(resource, { ...circumstances, operation: of }));
    const answers = (await this.#kubernetes.ask(asked(operation))).filter(({ policy }) => !others.has(policy));
    for (const other of new Set(others.values()))
      answers.push(...(await this.#kubernetes.ask(asked(other))).filter(({ policy }) => others.get(policy) === other));
    // For a deletion these evaluate the deleted object, too.
    const json = await this.#json.ask({ kind: "json", payload: withDoubles(resource.object) });
    const admission = await this.#options.admission.about(resource, circumstances);
    return {
      subject: { apiVersion, kind, namespace, name },
      answers: [...native.answers, ...mutated.answers, ...answers, ...json, ...admission],
      object: resource.object,
    };
  }

  *#operationsFor(resource: string): Iterable<readonly [string, Operation]> {
    for (const [policy, operations] of this.#options.operations) {
      const operation = operations.get(resource);
      if (operation !== undefined) yield [policy, operation];
    }
  }

  /** The answers about a payload: those of policies for JSON. */
  async aboutPayload(name: string, payload: JsonObject): Promise<Evaluated> {
    return { subject: { name }, answers: await this.#json.ask({ kind: "json", payload }) };
  }
}

/** The policies of one mode. */
class OneMode {
  readonly #policies: readonly CompiledPolicy[];
  readonly #engine: KyvernoEngine | undefined;

  constructor(policies: readonly CompiledPolicy[], engine: () => KyvernoEngine) {
    this.#policies = policies;
    if (policies.length > 0) this.#engine = engine();
  }

  /** The answers, and the object as mutating policies leave it; `undefined`: as it was. */
  async mutate(input: EngineInput) {
    const answer = await this.#engine?.decide(input, UNLIMITED);
    return { answers: answer === undefined ? [] : this.#answers(input, answer), object: answer?.object };
  }

  async ask(input: EngineInput): Promise<Answer[]> {
    return (await this.mutate(input)).answers;
  }

  #answers(input: EngineInput, { responses, failure }: EngineAnswer): Answer[] {
    // One failure fails all of them: none has passed.
    if (failure !== undefined) return this.#policies.map((policy) => failed(policy, failure));
    const kind = input.kind === "json" ? text(input.payload, "kind") : input.request.kind.kind;
    const matched = responses.flatMap((response) => {
      const answer = answerOf(response, kind);
      return answer === undefined ? [] : [{ variant: response.variant, answer }];
    });
    const variants = new Set(matched.map(({ variant }) => variant));
    const excluded = this.#policies.flatMap((policy) =>
      policy.variants
        .filter((variant) => !variants.has(variant) && (policy.origin !== undefined || !isSimple(variant.spec)))
        .map(() => excludedBy(policy)),
    );
    return [...matched.map(({ answer }) => answer), ...excluded];
  }
}

const isMutatingPolicy = ({ resource }: CompiledPolicy): boolean => isMutating(resource);
const leftBy = (resource: Resource, object: JsonObject | undefined): Resource =>
  object === undefined ? resource : { ...resource, object };
/** The answer of a policy, or of a rule of the old language; `undefined`: it does not match. */
function answerOf(response: PolicyResponse, kind: string): Answer | undefined {
  const { policy, result } = response;
  const { origin, resource } = policy;
  if (result === undefined) return undefined;
  const found = origin === undefined ? result : resultOfOldRule(origin, response, kind);
  if (found === undefined) return undefined;
  const finding = { ...result, ...found, policy: 0, exceptions: [] };
  return { ...namedBy(policy), result: reportedResult(reportedPolicy(resource), finding) };
}

const namedBy = ({ origin, resource }: CompiledPolicy): Pick<Answer, "policy" | "hasRules"> =>
  origin === undefined ? { policy: resource.metadata.name ?? "" } : { policy: origin.policy, hasRules: true };
const excludedBy = (policy: CompiledPolicy): Answer => ({ ...namedBy(policy), result: undefined });
const failed = (policy: CompiledPolicy, { message }: Failure): Answer => ({
  ...namedBy(policy),
  result: { rule: policy.origin?.rule ?? "evaluation", result: "error", message },
});
const isJson = ({ resource }: CompiledPolicy): boolean => resource.spec.evaluation?.mode === "JSON";

/** Whether the constraints are a single rule without names of objects. */
function isSimple({ matchConstraints }: PolicyResource["spec"]): boolean {
  if (matchConstraints === undefined) return false;
  const { namespaceSelector, objectSelector, excludeResourceRules = [], resourceRules = [] } = matchConstraints;
  const [rule, ...others] = resourceRules;
  if (rule === undefined || others.length > 0 || excludeResourceRules.length > 0) return false;
  if ((rule.resourceNames ?? []).length > 0) return false;
  return [namespaceSelector, objectSelector].every((selector) => {
    const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
    return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
  });
}
