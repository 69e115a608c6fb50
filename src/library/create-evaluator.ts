/** Evaluates loaded policies in a program. */
import type { AdmissionResponse } from "../admission/admission-response.js";
import { encodeAdmissionReview, encodeRawReview } from "../admission/encode.js";
import { didYouMean } from "../data/suggest.js";
import type { Outcome, Review } from "../policy/index.js";
import { createEvaluator as evaluatorOf } from "../policy/served/evaluator.js";
import type { Verdict } from "../policy/served/verdict.js";
import { checkLoaded, checkOpen, type LoadedPolicies } from "./load-policies.js";
import { type Log, loggerOf } from "./log.js";
import { checkOptions, FUNCTION, OptionError, SIGNAL, TEXT } from "./options.js";

/** Options of an evaluator. */
export interface EvaluatorOptions {
  /** Requests about objects in this namespace are allowed without evaluation. Default none. */
  readonly alwaysAcceptNamespace?: string;
  /** Receives the error of a policy that breaks its contract: a defect. The request is denied. */
  readonly log?: Log;
}

/** Options of one evaluation. */
export interface AskOptions {
  /** Milliseconds that the caller waits for the answer; the policy's own limit may be earlier, and is the default. */
  readonly timeout?: number;
  /** Aborted when the caller no longer needs the answer, which is then a failure. */
  readonly signal?: AbortSignal;
}

/** The outcome of a group's member. */
export interface MemberEvaluation {
  /** `<group>/<member>`, or the id of the policy that it names. */
  readonly policy: string;
  readonly outcome: Outcome;
  readonly milliseconds: number;
}

/** The answer of a policy. */
export interface PolicyEvaluation {
  /** Whether the request may pass; the field that decides for a client. */
  readonly allowed: boolean;
  /** The policy's outcome, before monitor mode, the mutation rule and the custom message; allow, deny, error or skip. */
  readonly outcome: Outcome;
  /** The response that the server would send. */
  readonly response: AdmissionResponse;
  /** The same as JSON text: an AdmissionReview, or for raw questions `{"response": …}`. */
  readonly text: string;
  /** Members of groups that were evaluated, in order. */
  readonly members: readonly MemberEvaluation[];
  readonly milliseconds: number;
}

/** Evaluates loaded policies. */
export interface PolicyEvaluator {
  /**
   * Evaluates one policy. Every failure of a policy is an answer that denies.
   * @param id `<policy>` or `<group>/<member>`
   * @throws OptionError for an unknown id, a review that createReview did not make, and once the policies are closed
   */
  evaluate(id: string, review: Review, options?: AskOptions): Promise<PolicyEvaluation>;
  /** Stops following reloads. The policies stay open until `LoadedPolicies.close`. */
  close(): void;
}

/**
 * Creates an evaluator of loaded policies; after a reload it uses the new ones.
 * @throws OptionError
 */
export function createEvaluator(loaded: LoadedPolicies, options: EvaluatorOptions = {}): PolicyEvaluator {
  checkLoaded("createEvaluator", loaded);
  checkOpen("createEvaluator", loaded);
  checkOptions("createEvaluator", options, { alwaysAcceptNamespace: TEXT, log: FUNCTION });
  const { alwaysAcceptNamespace, log } = options;
  const logger = loggerOf(log);
  const evaluator = evaluatorOf(loaded.policies, {
    policyTimeout: loaded.policyTimeout,
    ...(alwaysAcceptNamespace !== undefined && { alwaysAcceptNamespace }),
    onDefect: (policy, error) =>
      logger.error("a policy failed unexpectedly", { policy_id: policy, error: String(error) }),
  });
  const unfollow = loaded.onReload((policies) => evaluator.use(policies));
  return {
    close: unfollow,
    async evaluate(id, review, asked = {}) {
      checkOptions("evaluate", asked, {
        timeout: { expected: "milliseconds above 0", fits: (value) => typeof value === "number" && value > 0 },
        signal: SIGNAL,
      });
      checkOpen("evaluate", loaded);
      checkQuestion(id, review);
      const entry = evaluator.policies.entries.get(id);
      if (entry === undefined) throw new OptionError(unknownPolicy(id, evaluator.policies.entries.keys()));
      const { timeout, signal } = asked;
      const answered = new AbortController();
      const asking = {
        review,
        origin: review.kind === "raw" ? "validate_raw" : "validate",
        ...(timeout !== undefined && { deadline: performance.now() + timeout }),
        ...(signal && {
          whenGone: (abandon: () => void) => {
            if (signal.aborted) abandon();
            // One signal may serve many evaluations.
            else signal.addEventListener("abort", abandon, { once: true, signal: answered.signal });
          },
        }),
      } as const;
      let verdict: Verdict;
      try {
        verdict = await evaluator.evaluate(entry, asking);
      } finally {
        answered.abort();
      }
      const { response, outcome, milliseconds, observations } = verdict;
      return {
        allowed: response.allowed,
        outcome,
        response,
        text: (review.kind === "raw" ? encodeRawReview : encodeAdmissionReview)(response),
        members: observations.filter(({ member }) => member),
        milliseconds,
      };
    },
  };
}

function checkQuestion(id: unknown, review: unknown): void {
  if (typeof id !== "string") throw new OptionError("evaluate: the first argument must be the name of a policy");
  const kind = typeof review === "object" && review !== null && "kind" in review ? review.kind : undefined;
  if (kind !== "raw" && kind !== "admission")
    throw new OptionError("evaluate: the second argument must be what createReview gave");
}

/** Most names in a message. */
const LISTED = 20;

function unknownPolicy(id: string, known: Iterable<string>): string {
  const names = [...known];
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : "";
  const list = names.length === 0 ? "there are none" : `known are ${names.slice(0, LISTED).join(", ")}${more}`;
  return `evaluate: unknown policy ${JSON.stringify(id)}${didYouMean(id, names) || ` (${list})`}`;
}
