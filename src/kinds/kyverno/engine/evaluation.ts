/** Evaluates policies about one input: each is matched first (spec kyverno.md 2.1, 3.5 and 6.1). */
import { type Value, Waiting } from "../../../cel/index.js";
import { sameValue } from "../../../data/same-value.js";
import { isObject, type JsonObject, labelsOf, member, text } from "../../../kubernetes/object.js";
import type { AdmissionRequest } from "../../../policy/index.js";
import type { RequestWorld } from "../../../world/request-world.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import { Doubles } from "../../shared/doubles.js";
import type { Attempt } from "../../shared/expressions/attempt.js";
import { namespaceViews } from "../../shared/expressions/input.js";
import { TOO_LARGE } from "../../shared/expressions/interruption.js";
import type { PreparedSelector } from "../../shared/match/label-selector.js";
import type { PreparedMatch } from "../../shared/match/match-resources.js";
import { attributesOf, type RequestAttributes } from "../../shared/match/request-attributes.js";
import { nameMatches, type PreparedRule, ruleMatches } from "../../shared/match/resource-rule.js";
import { type PodRequests, podRequests } from "../autogen/extraction.js";
import type { CompiledPolicy, CompiledVariant } from "../compiled-policy.js";
import { resourceOf } from "../image-validating/pod-images.js";
import type { Patching } from "../mutating/patching.js";
import { type ExceptionResource, isImageValidating, isMutating, isNamespaced } from "../resource.js";
import type { AdmissionInput, EngineInput, Flavour } from "./engine-request.js";
import type { EngineState } from "./engine-state.js";
import { evaluateVariant } from "./evaluate-variant.js";
import type { Evaluated, EvaluationData } from "./evaluated.js";
import { type Inputs, inputsOf, requestValue } from "./inputs.js";
import type { PolicyResponse, RuleResult } from "./response.js";
import { resultOf, ruleResult } from "./rule-result.js";

/** A policy with one of its variants. */
export interface Candidate {
  readonly policy: CompiledPolicy;
  readonly variant: CompiledVariant;
  /** Its index among all. */
  readonly index: number;
}

// Match constraints against a request (spec kyverno.md 2.2): the version must be named literally, and an absent object has no labels.

/** Whether the constraints match; a text is the error if that cannot be found out. */
type MatchResult = boolean | { readonly error: string } | Waiting;

/** The label that every Namespace has: the only one known when the Namespace cannot be found. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/** Matches a request. `undefined` constraints match nothing. */
function matchConstraints(
  match: PreparedMatch | undefined,
  request: RequestAttributes,
  world: Pick<RequestWorld, "namespace">,
): MatchResult {
  if (match?.namespaceSelector === undefined || match.objectSelector === undefined) return false;
  // Rules are tried before look-ups: the order makes no difference to the answer, since selectors' errors count last.
  if (match.excludes.some((rule) => ruleHolds(rule, request))) return false;
  if (match.rules.length > 0 && !match.rules.some((rule) => ruleHolds(rule, request))) return false;
  const ofObject = objectMatches(match.objectSelector, request);
  if (ofObject === false) return false;
  const inNamespace = namespaceMatches(match.namespaceSelector, request, world);
  return inNamespace === true ? ofObject : inNamespace;
}

function ruleHolds(rule: PreparedRule, request: RequestAttributes): boolean {
  if (!ruleMatches(rule, request, request.resource)) return false;
  if (request.name !== "" || rule.names.length === 0) return nameMatches(rule, request.name);
  const metadata = isObject(request.object) ? member(request.object, "metadata") : undefined;
  const generated = isObject(metadata) ? member(metadata, "generateName") : undefined;
  const prefix = typeof generated === "string" ? generated : "";
  return rule.names.some((name) => prefix.startsWith(name));
}

const internalError = (message: string): MatchResult => ({ error: `Internal error occurred: ${message}` });

function objectMatches(
  selector: PreparedSelector,
  { object, oldObject }: RequestAttributes,
): Exclude<MatchResult, Waiting> {
  if (selector.error !== undefined) return internalError(selector.error) as { error: string };
  return selector.empty || selector.matches(labelsOf(object)) || selector.matches(labelsOf(oldObject));
}

function namespaceMatches(
  selector: PreparedSelector,
  { namespace: name, resource, subresource, operation, object }: RequestAttributes,
  world: Pick<RequestWorld, "namespace">,
): MatchResult {
  const isNamespace = resource.resource === "namespaces";
  if (name === "" && !isNamespace) return true;
  if (selector.error !== undefined) return internalError(selector.error);
  if (selector.empty) return true;
  if (isNamespace && subresource === "" && (operation === "CREATE" || operation === "UPDATE")) {
    return selector.matches(labelsOf(object));
  }
  const namespace = name === "" ? undefined : world.namespace(name);
  if (namespace instanceof Waiting) return namespace;
  // The reference continues without the Namespace, and so without its labels: a failed look-up must not decide that a policy does not apply.
  if (namespace instanceof LookupFailure) return internalError(namespace.message);
  return selector.matches(namespace === undefined ? { [NAME_LABEL]: name } : labelsOf(namespace));
}

/** The message of a policy of the other mode. */
const NO_REQUEST =
  "cannot evaluate Kubernetes-mode policy without admission attributes (hint: use a non-Kubernetes evaluation mode for raw payloads)";

/** The message of a mutating policy about the object of a custom controller. */
const NOT_EXTRACTED = "extraction mode: mutation for custom workload CRDs is not yet supported";

/** All data about one input (disposable); attempts share it. */
export class Evaluation {
  readonly #input: EngineInput;
  readonly #state: EngineState;
  readonly #server: boolean;
  #inputs: Inputs | undefined;
  #pods: PodRequests | undefined;
  /** The inputs of pods that were reached: made once for all policies and attempts. */
  readonly #podInputs: Inputs[] = [];
  #attributes: RequestAttributes | undefined;

  #payloadValue: Value | undefined;
  readonly #patching: Patching | undefined;
  readonly #pins: boolean;
  #mutated: JsonObject | undefined;

  /**
   * @param patching applies the mutations of mutating policies
   * @param pins whether tags of images are replaced by digests, and nothing is judged
   */
  constructor(input: EngineInput, state: EngineState, flavour: Flavour, patching?: Patching, pins = false) {
    this.#patching = patching;
    this.#pins = pins;
    this.#input = input;
    this.#state = state;
    this.#server = flavour === "server";
  }

  /** The object as mutating policies have left it; `undefined`: none was evaluated. */
  get mutated(): JsonObject | undefined {
    return this.#mutated;
  }

  get #asked(): unknown {
    return this.#input.kind === "json" ? this.#input.payload : this.#input.request.object;
  }

  /** Evaluates the candidates in order. The result of an attempt that waits, or was stopped, must be discarded. */
  run(candidates: readonly Candidate[], attempt: Attempt): readonly PolicyResponse[] {
    const responses: PolicyResponse[] = [];
    this.#mutated = undefined;
    this.#patching?.begin();
    for (const candidate of candidates) {
      if (attempt.expired() || attempt.over()) break;
      const result = this.#result(candidate, attempt);
      // The next mutating policy must see what this one makes of the object.
      if (result instanceof Waiting && this.#patching !== undefined) break;
      if (result instanceof Waiting) continue;
      const { policy, variant } = candidate;
      const response = { policy, variant, result };
      const object = result?.object;
      // Rules of the old language say whether they have changed something.
      const isTold = object !== undefined && policy.origin !== undefined;
      responses.push(isTold ? { ...response, changes: !sameValue(object, this.#mutated ?? this.#asked) } : response);
      this.#mutated = object ?? this.#mutated;
    }
    return this.#state.images === undefined ? responses : responses.map((response) => this.#required(response));
  }

  /** The answer of a policy that requires its images to be verified: that may be done by a policy after it. */
  #required(response: PolicyResponse): PolicyResponse {
    const { result, variant } = response;
    if (result?.images === undefined || variant.images?.required !== true) return response;
    const message = this.#state.evidence.lacking(result.images);
    if (message === undefined) return response;
    return { ...response, result: ruleResult(result.rule, "fail", message, result.properties) };
  }

  #result({ policy, variant, index }: Candidate, attempt: Attempt): RuleResult | undefined | Waiting {
    const input = this.#input;
    const { kind, metadata } = policy.resource;
    const confined = metadata.namespace ?? "";
    this.#state.begin(confined, index);
    if (input.kind === "json") {
      if (variant.mode === "JSON") return this.#payload(variant, input.payload, attempt);
      return ruleResult("evaluation", "error", `failed to load context: ${NO_REQUEST}`);
    }
    const { request, targeted } = input;
    // Digests are written into requests of the API server, and only where pods' images have a known place.
    if (this.#pins && (targeted === true || variant.name === "extract")) return undefined;
    if (targeted === true) {
      if (variant !== variantFor(policy, request)) return undefined;
      if (variant.mode === "JSON") return this.#payload(variant, request.object ?? request.oldObject, attempt);
    } else {
      if (variant.mode === "JSON") return undefined;
      // Such a policy is for background scans: no webhook is registered for it.
      if (this.#server && variant.spec.evaluation?.admission?.enabled === false) return undefined;
      const elsewhere = confined !== "" && confined !== (request.namespace ?? "");
      // Kyverno's command asks namespaced policies about all namespaces, but not those of the old language.
      const isConfined = this.#server || policy.origin !== undefined;
      if (isConfined && elsewhere && isNamespaced({ kind })) return undefined;
      // Nothing is mutated that is deleted.
      if (request.operation === "DELETE" && (this.#pins || isMutating(policy.resource))) return undefined;
      this.#attributes ??= attributesFor(input);
      const object = this.#mutated;
      const seen = object === undefined ? this.#attributes : { ...this.#attributes, object };
      const matches = matchConstraints(variant.match, seen, attempt.world);
      if (matches instanceof Waiting) return matches;
      if (matches === false) return undefined;
      if (matches !== true) return ruleResult("match", "error", `failed to execute matching: ${matches.error}`);
    }
    const namesOnly = !this.#server && policy.origin !== undefined;
    const namespaceObject = variant.namesNamespace ? namespaceOf(request, attempt, namesOnly) : null;
    if (namespaceObject instanceof Waiting) return namespaceObject;
    if (namespaceObject instanceof LookupFailure) {
      return ruleResult("evaluation", "error", `failed to load context: ${namespaceObject.message}`);
    }
    this.#inputs ??= inputsOf(input);
    const mutating = isMutating(policy.resource);
    if (variant.name === "extract" && mutating) return ruleResult("", "skip", NOT_EXTRACTED);
    if (variant.name === "extract") return this.#judgePods(variant, request, namespaceObject, attempt);
    const { object, oldObject, request: seen } = this.#inputs;
    const data: EvaluationData = {
      object: (this.#mutated as Value | undefined) ?? object,
      oldObject,
      request: seen,
      namespaceObject,
      about: "",
      now: this.#state.time,
      patching: this.#patching,
      state: this.#state,
      resource: resourceAsked(request, targeted, object),
      pins: this.#pins,
    };
    const evaluated = evaluateVariant(variant, data, attempt);
    return evaluated instanceof Waiting ? evaluated : resultOf(evaluated, wordsOf(variant));
  }

  #payload(variant: CompiledVariant, payload: unknown, attempt: Attempt): RuleResult | Waiting {
    // Kyverno decodes the numbers of a JSON payload as doubles; its command line passes them as expressions see them.
    this.#payloadValue ??= this.#server ? new Doubles().of(payload ?? null) : ((payload ?? null) as Value);
    const object = this.#payloadValue;
    const [state, now] = [this.#state, this.#state.time];
    const data = { object, oldObject: null, request: null, namespaceObject: null, about: "", now, state };
    const evaluated = evaluateVariant(variant, data, attempt);
    return evaluated instanceof Waiting ? evaluated : resultOf(evaluated, wordsOf(variant));
  }

  /** The result for the pods of a custom controller's object: the first that fails, else the last; exempted ones are skipped. */
  #judgePods(
    variant: CompiledVariant,
    request: AdmissionRequest,
    namespaceObject: Value,
    attempt: Attempt,
  ): RuleResult | Waiting {
    const { object, oldObject } = this.#inputs ?? {};
    this.#pods ??= podRequests(request, { object, oldObject });
    const pods = this.#pods;
    if (pods === "too-large") return attempt.stop(TOO_LARGE);
    const words = wordsOf(variant);
    if ("error" in pods) return resultOf({ kind: "error", message: pods.error, index: 0 }, words);
    const images: string[] = [];
    const exceptions: ExceptionResource[] = [];
    let last: Evaluated = { kind: "skip" };
    let judged = false;
    for (const [i, pod] of pods.entries()) {
      if (attempt.expired() || attempt.over()) return Waiting.INSTANCE;
      this.#podInputs[i] ??= podInputs(pod.request());
      const { path } = pod;
      const [state, now] = [this.#state, this.#state.time];
      const data: EvaluationData = { ...this.#podInputs[i], namespaceObject, about: path, now, state, resource: PODS };
      const evaluated = evaluateVariant(variant, data, attempt);
      if (evaluated instanceof Waiting) return evaluated;
      const where = ` (pod template at ${path})`;
      switch (evaluated.kind) {
        case "failed":
          return resultOf({ kind: "failed", message: `pod template at ${path}: ${evaluated.message}` }, words);
        case "error":
        case "fail":
          return resultOf({ ...evaluated, message: `${evaluated.message}${where}` }, words);
        case "exempt":
          exceptions.push(...evaluated.exceptions);
          break;
        case "pass":
          images.push(...(evaluated.images ?? []));
          last = evaluated.images === undefined ? evaluated : { ...evaluated, images };
          judged = true;
      }
    }
    return resultOf(judged || exceptions.length === 0 ? last : { kind: "exempt", exceptions }, words);
  }
}

const PODS = { group: "", version: "v1", resource: "pods" };

/** The resource that was addressed; of a value that a group asks about, the resource of the value. */
const resourceAsked = (request: AdmissionRequest, targeted: boolean | undefined, object: unknown) =>
  targeted === true && text(object, "kind") !== "" ? resourceOf(object) : (request.requestResource ?? request.resource);

/** The words of Kyverno about the kind. */
const wordsOf = ({ policy }: CompiledVariant) =>
  isImageValidating(policy)
    ? { failed: "failed to evaluate policy", rule: policy.metadata.name ?? "" }
    : isMutating(policy)
      ? { failed: "failed to evaluate policy" }
      : {};

/** The attributes for matching: the request's resource as it was sent, whatever was addressed. */
function attributesFor({ request }: AdmissionInput): RequestAttributes {
  const { requestResource: _, requestKind: __, requestSubResource: ___, ...rest } = request;
  return attributesOf(rest);
}

/**
 * The base or the variant of a policy for a group's question about an object of a kind: the base, unless a variant matches that kind. Kinds of custom
 * controllers are guessed from their plurals, which have no capitals inside.
 */
const variantFor = ({ variants }: CompiledPolicy, { kind }: AdmissionRequest): CompiledVariant | undefined =>
  variants.find(({ targets }) =>
    targets.some((target) => target.group === kind.group && target.kind.toLowerCase() === kind.kind.toLowerCase()),
  ) ?? variants[0];

/** @param namesOnly whether an unknown Namespace has its name alone, as for the old language in Kyverno's command */
function namespaceOf(
  { namespace = "" }: AdmissionRequest,
  attempt: Attempt,
  namesOnly: boolean,
): Value | LookupFailure | Waiting {
  if (namespace === "") return null;
  const found = attempt.world.namespace(namespace);
  if (found instanceof Waiting || found instanceof LookupFailure) return found;
  if (found === undefined) return namesOnly ? { metadata: { name: namespace } } : null;
  return namespaceViews(found).whole;
}

/** The inputs for a pod. Unlike in a request, a missing object is null. */
const podInputs = (request: AdmissionRequest): Inputs => ({
  object: (request.object ?? null) as Value,
  oldObject: (request.oldObject ?? null) as Value,
  request: requestValue(request),
});
