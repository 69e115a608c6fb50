/** Policies of a test, asked about its resources and payloads one after the other. */
import { withDoubles } from "../data/doubles.js";
import {
  type CompiledPolicy,
  type EngineInput,
  KyvernoEngine,
  type PolicyResource,
  type PolicyResponse,
} from "../kinds/kyverno/index.js";
import type { JsonObject } from "../kubernetes/object.js";
import type { Operation } from "../scan/circumstances.js";
import { admissionInput, type RequestCircumstances, requestFor } from "../scan/request.js";
import type { Resource } from "../scan/resource.js";
import type { World } from "../world/world.js";
import { answerResult } from "./answer-result.js";
import type { Answer, Evaluated } from "./answers.js";

/** What questions are put with. */
export interface QuestionOptions extends Omit<RequestCircumstances, "operation"> {
  readonly world: World;
}

/** Compiled policies, those for JSON apart: they are asked about resources as well, but in another way (spec kyverno.md 6.1). */
export class PolicyQuestions {
  readonly #kubernetes: KyvernoEngine;
  readonly #json: KyvernoEngine;
  readonly #options: QuestionOptions;

  constructor(policies: readonly CompiledPolicy[], options: QuestionOptions) {
    const engine = (own: readonly CompiledPolicy[]) =>
      new KyvernoEngine(own, { world: options.world, flavour: "command-line" });
    this.#kubernetes = engine(policies.filter((policy) => !isJson(policy)));
    this.#json = engine(policies.filter(isJson));
    this.#options = options;
  }

  /** The answers about a resource. */
  async about(resource: Resource, operation: Operation): Promise<Evaluated> {
    const input = admissionInput(requestFor(resource, { ...this.#options, operation }));
    const { apiVersion, kind, namespace, name } = resource;
    const responses = await this.#kubernetes.respond(input);
    // What a deletion would remove is what they look at, too.
    const json = await this.#json.respond({ kind: "json", payload: withDoubles(resource.object) });
    return {
      subject: { apiVersion, kind, namespace, name },
      answers: [...responses.flatMap(answersOf), ...json.flatMap(answersOf)],
    };
  }

  /** The answers about a payload: those of policies for JSON. */
  async aboutPayload(name: string, payload: JsonObject): Promise<Evaluated> {
    const input: EngineInput = { kind: "json", payload };
    return { subject: { name }, answers: (await this.#json.respond(input)).flatMap(answersOf) };
  }
}

const isJson = ({ resource }: CompiledPolicy): boolean => resource.spec.evaluation?.mode === "JSON";

/** The answer that a response is; of simple constraints nothing is left where they do not match. */
function answersOf({ policy, variant, result }: PolicyResponse): Answer[] {
  const { resource } = policy;
  const name = resource.metadata.name ?? "";
  if (result !== undefined) return [{ policy: name, result: answerResult(resource, result) }];
  return isSimple(variant.spec) ? [] : [{ policy: name, result: undefined }];
}

/** One rule that names no objects, and nothing else. */
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
