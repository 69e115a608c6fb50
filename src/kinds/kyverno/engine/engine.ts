/** Evaluates policies about a request or a payload, as Kyverno's engine does (spec kyverno.md 2 and 6.1). */

import { compareNames } from "../../../kubernetes/names.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import type { Failure } from "../../../policy/outcome.js";
import type { EvaluationContext } from "../../../policy/policy.js";
import { RequestWorld } from "../../../world/request-world.js";
import type { World } from "../../../world/world.js";
import { Attempt, type AttemptOptions } from "../../shared/expressions/attempt.js";
import { NOT_IN_TIME } from "../../shared/expressions/interruption.js";
import { Progress } from "../../shared/expressions/progress.js";
import { prepareSelector } from "../../shared/match/label-selector.js";
import { MatchIndex } from "../../shared/match/match-index.js";
import type { PreparedMatch } from "../../shared/match/match-resources.js";
import { type FindTypes, findTypesIn } from "../../shared/mutation/merge-types.js";
import type { CompiledPolicy } from "../compiled-policy.js";
import { createDialect } from "../dialect.js";
import { Patching } from "../mutating/patching.js";
import type { EngineInput, Flavour } from "./engine-request.js";
import { EngineState } from "./engine-state.js";
import { type Candidate, Evaluation } from "./evaluation.js";
import type { PolicyResponse } from "./response.js";

/** Options of the engine. */
export interface EngineOptions {
  readonly world: World;
  readonly flavour: Flavour;
  /** Finds how objects are merged, for mutating policies. */
  readonly findTypes?: FindTypes | undefined;
  /** Whether ImageValidatingPolicies replace tags of images by digests, and judge nothing; default no. */
  readonly pins?: boolean;
  /** Whether policies are evaluated in the order in which they are given; default: by kind, namespace and name. */
  readonly inOrder?: boolean;
}

/** The results of policies. */
export interface EngineAnswer {
  /** One for every candidate, in order. */
  readonly responses: readonly PolicyResponse[];
  /** The object after all mutations; `undefined` where no policy has mutated it, or nothing counts. */
  readonly object: JsonObject | undefined;
  /** Why none of the responses counts: time was up, an expression was stopped, or more questions were put than allowed. */
  readonly failure: Failure | undefined;
  /** The log's text about look-ups that failed. */
  readonly detail: string | undefined;
}

/** The limits of an evaluation; absent: no limits. */
export type EngineContext = Pick<EvaluationContext, "deadline" | "signal" | "turns">;

/** The dialect; both kinds of policies have the same costs and messages. */
const DIALECT = createDialect(false);

/** Stands for constraints that are absent: it names no resource. */
const MATCHES_NOTHING: PreparedMatch = {
  namespaceSelector: prepareSelector({}),
  objectSelector: prepareSelector({}),
  equivalent: false,
  rules: [{ operations: new Set(), groups: new Set(), versions: new Set(), resources: [], names: [], scope: "*" }],
  excludes: [],
  written: [],
};

/** Prepared policies, sorted by kind, namespace and name; of a policy the base comes before its variants. Each mutating one sees the object of those before. */
export class KyvernoEngine {
  readonly #all: readonly Candidate[];
  readonly #world: World;
  readonly #flavour: Flavour;
  readonly #findTypes: FindTypes | undefined;
  readonly #pins: boolean;
  readonly #index: MatchIndex<Candidate>;

  constructor(
    policies: readonly CompiledPolicy[],
    { world, flavour, findTypes, pins = false, inOrder = false }: EngineOptions,
  ) {
    const sorted = inOrder ? policies : [...policies].sort((a, b) => compareNames(sortKey(a), sortKey(b)));
    this.#findTypes = findTypes;
    this.#pins = pins;
    this.#all = sorted
      .flatMap((policy) => policy.variants.map((variant) => ({ policy, variant })))
      .map((each, index) => ({ ...each, index }));
    this.#world = world;
    this.#flavour = flavour;
    this.#index = new MatchIndex(this.#all, ({ variant }) => variant.match ?? MATCHES_NOTHING);
  }

  /** The answers of those policies that may match. */
  decide(input: EngineInput, context: EngineContext): EngineAnswer | Promise<EngineAnswer> {
    return this.#ask(this.#candidates(input), input, context);
  }

  #candidates(input: EngineInput): readonly Candidate[] {
    if (input.kind === "json" || input.targeted === true) return this.#all;
    const { operation, resource } = input.request;
    return this.#index.candidates(operation, resource.group, resource.resource);
  }

  #ask(
    candidates: readonly Candidate[],
    input: EngineInput,
    context: EngineContext,
  ): EngineAnswer | Promise<EngineAnswer> {
    const world = new RequestWorld(this.#world);
    const state = new EngineState(world, this.#world.date?.() ?? Date.now());
    const { deadline, turns } = context;
    const limit = Number.isFinite(deadline) || turns !== undefined ? { at: deadline, now: this.#world.now } : undefined;
    const circumstances: AttemptOptions = { deadline: limit, turns, progress: new Progress(), state };
    const patching = this.#findTypes && new Patching(this.#findTypes);
    const evaluation = new Evaluation(input, state, this.#flavour, patching, this.#pins);
    const attempt = (): EngineAnswer => {
      const tried = new Attempt(DIALECT, world, circumstances);
      const responses = evaluation.run(candidates, tried);
      const { failure: message, detail } = world;
      const refused: Failure | undefined =
        message === undefined ? undefined : { verdict: "error", message, cause: "unavailable" };
      const failure = tried.interruption ?? refused;
      return { responses, object: failure === undefined ? evaluation.mutated : undefined, failure, detail };
    };
    return world.questions.settle(attempt, context, () => ({
      responses: [],
      object: undefined,
      failure: NOT_IN_TIME,
      detail: world.detail,
    }));
  }
}

/** Rules of one old policy stay in their order. */
const sortKey = ({ origin, resource: { kind, metadata, converted } }: CompiledPolicy): string =>
  `${kind}\u0000${metadata.namespace ?? ""}\u0000${(converted && origin?.policy) ?? metadata.name ?? ""}`;

/** Options of applying policies. */
export interface ApplyOptions {
  readonly world: World;
  /** CustomResourceDefinitions, by which custom resources are merged. */
  readonly definitions?: readonly JsonObject[];
}

/** An engine of mutating policies by the rules of Kyverno's command: its answers have the changed object, and one response for each policy that may match. */
export const mutatingEngine = (
  policies: readonly CompiledPolicy[],
  { world, definitions = [] }: ApplyOptions,
): KyvernoEngine =>
  new KyvernoEngine(policies, { world, flavour: "command-line", findTypes: findTypesIn(definitions), inOrder: true });
