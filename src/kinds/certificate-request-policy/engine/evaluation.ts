/** The evaluation of one request (disposable): selected policies, those that may be used, and their objections. Attempts share results. */
import { Waiting } from "../../../cel/index.js";
import { goDurationText } from "../../../data/go/duration.js";
import { goQuote } from "../../../kubernetes/field-error.js";
import { MalformedRequest, type PublicKey, readCertificationRequest } from "../../../x509/pkcs10/index.js";
import type { Attempt } from "../../shared/expressions/attempt.js";
import { RequestValue } from "../request-value.js";
import type { Constraints } from "../resource.js";
import type { Scrutiny } from "../scrutiny.js";
import { AllowedEvaluation } from "./allowed.js";
import { Applicable } from "./applicable.js";
import type { CertificateRequest, ReviewInput } from "./certificate-request.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { Answer, Decision, Objection, Objections, PolicyAccount, UndecidedReview } from "./decision.js";
import { aggregated, ObjectionBudget, ObjectionList } from "./objections.js";
import { type RequestedNames, requestedNames } from "./requested-names.js";

// Checks of a request against a policy's constraints (spec certificate-request-policy.md 6).

const PATH = "spec.constraints";

/** A key of a kind that no policy can check. */
interface UnknownKey {
  readonly error: string;
}

/**
 * Objections by `constraints` of a policy to a request.
 * @param duration nanoseconds; `undefined` if the request has none
 * @param publicKey needed for constraints on it
 */
export function evaluateConstraints(
  { minDuration, maxDuration, privateKey }: Constraints,
  duration: bigint | undefined,
  publicKey: PublicKey | undefined,
): readonly Objection[] | UnknownKey {
  const list = new ObjectionList();
  if (maxDuration !== undefined && (duration === undefined || duration > maxDuration))
    list.invalid(`${PATH}.maxDuration`, durationText(duration), goDurationText(maxDuration));
  if (minDuration !== undefined && (duration === undefined || duration < minDuration))
    list.invalid(`${PATH}.minDuration`, durationText(duration), goDurationText(minDuration));
  if (privateKey === undefined || publicKey === undefined) return list.all;
  const { algorithm, maxSize, minSize } = privateKey;
  const size = sizeOf(publicKey);
  if (size === undefined) {
    const type = publicKey.algorithm === "DSA" ? "*dsa.PublicKey" : "<nil>";
    return { error: `unrecognised public key type ${type}` };
  }
  const run = `${PATH}.privateKey`;
  if (algorithm !== undefined && algorithm !== publicKey.algorithm)
    list.invalid(`${run}.algorithm`, publicKey.algorithm, algorithm);
  if (maxSize !== undefined && size > maxSize) list.invalid(`${run}.maxSize`, `${size}`, `${maxSize}`);
  if (minSize !== undefined && size < minSize) list.invalid(`${run}.minSize`, `${size}`, `${minSize}`);
  return list.all;
}

const durationText = (duration: bigint | undefined): string =>
  duration === undefined ? "nil" : goDurationText(duration);

/** The size of a key; Ed25519 has none, which counts as less than any. */
function sizeOf(key: PublicKey): number | undefined {
  switch (key.algorithm) {
    case "RSA":
    case "ECDSA":
      return key.bits;
    case "Ed25519":
      return -1;
    default:
      return undefined;
  }
}

/** Options of an entry for its policies. */
export interface EvaluationOptions {
  /** `status`: a policy must have the condition `Ready` (spec 3.4); `self`: every policy is ready. */
  readonly readiness: "self" | "status";
  /** Checks a whole signing request, whatever the policies; default: no check. */
  readonly scrutinise?: Scrutiny | undefined;
}

/** The result of a step; {@link Waiting} when the turn is over, or an answer is pending. */
type Step<T> = T | UndecidedReview | Waiting;

export class Evaluation {
  readonly #policies: readonly CompiledPolicy[];
  readonly #request: CertificateRequest;
  readonly #options: EvaluationOptions;
  readonly #applicable: Applicable;
  readonly #budget = new ObjectionBudget();
  readonly #objections = new Map<CompiledPolicy, Objections>();
  #names: RequestedNames | MalformedRequest | undefined;
  /** The error of the whole signing request. */
  #wrong: string | undefined;
  #cr: RequestValue | undefined;
  /** The evaluation that an attempt has interrupted; the next one continues it. */
  #left: { readonly compiled: CompiledPolicy; readonly evaluation: AllowedEvaluation } | undefined;

  constructor(policies: readonly CompiledPolicy[], input: ReviewInput, options: EvaluationOptions) {
    this.#policies = policies;
    this.#request = input.request;
    this.#options = options;
    this.#applicable = new Applicable(policies, input);
  }

  /** Runs an attempt at the decision; the result of a waiting or stopped attempt is discarded. */
  at(attempt: Attempt): Decision {
    const accounts = () => this.accounts();
    const decided = this.#decide(attempt);
    return decided instanceof Waiting ? { result: "Error", cause: "waiting", accounts } : { ...decided, accounts };
  }

  /** The accounts of all policies. */
  accounts(): readonly PolicyAccount[] {
    return this.#policies.map((compiled) => {
      const { name, ready } = compiled.policy;
      const isReady = ready === undefined ? undefined : ready === "True";
      return {
        name,
        ...this.#applicable.accountOf(compiled),
        ready: this.#options.readiness === "self" ? true : isReady,
        objections: this.#objections.get(compiled),
      };
    });
  }

  #decide(attempt: Attempt): Step<Answer> {
    if (this.#policies.length === 0) return unprocessed("No CertificateRequestPolicies exist");
    const bound = this.#applicable.policies(attempt);
    if (!isList(bound)) return bound;
    const { readiness } = this.#options;
    const ready = readiness === "self" ? bound : bound.filter(({ policy }) => policy.ready === "True");
    if (ready.length === 0) return unprocessed("No CertificateRequestPolicies bound or applicable");
    for (const compiled of ready) {
      const objections = this.#objectionsOf(compiled, attempt);
      if (objections instanceof Waiting || "result" in objections) return objections;
      if (objections.allowed.length === 0 && objections.constraints.length === 0) {
        const { name } = compiled.policy;
        return { result: "Approved", message: `Approved by CertificateRequestPolicy: ${goQuote(name)}`, by: name };
      }
    }
    const blocks = ready.map((compiled) => this.#blockOf(compiled)).join(" ");
    if (readiness === "status" && bound.some(({ policy }) => policy.ready === undefined))
      return unprocessed(
        `Not all policies are ready for evaluation; refusing to deny pending policy readiness: ${blocks}`,
      );
    return { result: "Denied", message: `No policy approved this request: ${blocks}` };
  }

  #blockOf(compiled: CompiledPolicy): string {
    const { allowed = [], constraints = [] } = this.#objections.get(compiled) ?? {};
    const texts = [aggregated(allowed), aggregated(constraints)].filter((text) => text !== "");
    return `[${compiled.policy.name}: ${texts.join(", ")}]`;
  }

  #objectionsOf(compiled: CompiledPolicy, attempt: Attempt): Step<Objections> {
    const known = this.#objections.get(compiled);
    if (known !== undefined) return known;
    if (attempt.expired() || attempt.over()) return Waiting.INSTANCE;
    const objections = this.#evaluate(compiled, attempt);
    if (objections instanceof Waiting || "result" in objections) return objections;
    this.#objections.set(compiled, objections);
    return objections;
  }

  #evaluate(compiled: CompiledPolicy, attempt: Attempt): Step<Objections> {
    const allowed = this.allowed(compiled, attempt);
    if (!isList(allowed)) return allowed;
    const constraints = this.constraints(compiled);
    return isList(constraints) ? { allowed, constraints } : constraints;
  }

  /** Objections by `allowed` of a policy to the request, whether the policy selects it or not. */
  allowed(compiled: CompiledPolicy, attempt: Attempt): Step<readonly Objection[]> {
    const names = this.#requested();
    if (names instanceof MalformedRequest) return undecided(names.message);
    const left =
      this.#left?.compiled === compiled ? this.#left : { compiled, evaluation: this.#begin(compiled, names) };
    const objections = left.evaluation.objections(attempt);
    this.#left = objections instanceof Waiting ? left : undefined;
    if (objections instanceof Waiting || this.#wrong === undefined) return objections;
    return [{ path: "spec.request", text: this.#wrong }, ...objections];
  }

  #begin({ allowed }: CompiledPolicy, names: RequestedNames): AllowedEvaluation {
    const { name, namespace, username, groups } = this.#request;
    this.#cr ??= new RequestValue(name, namespace, username, groups);
    const [request, cr, budget] = [this.#request, this.#cr, this.#budget];
    return new AllowedEvaluation({ allowed, request, names, cr, budget });
  }

  /** Objections by `constraints` of a policy to the request. */
  constraints({ policy: { constraints } }: CompiledPolicy): readonly Objection[] | UndecidedReview {
    if (constraints === undefined) return [];
    const names = constraints.privateKey && this.#requested();
    if (names instanceof MalformedRequest) return undecided(names.message);
    const objections = evaluateConstraints(constraints, this.#request.duration, names?.csr.publicKey);
    return "error" in objections ? undecided(objections.error) : objections;
  }

  /** The signing request, parsed when the first policy needs it. */
  #requested(): RequestedNames | MalformedRequest {
    if (this.#names === undefined) {
      const { request } = this.#request;
      const csr = readCertificationRequest(request);
      this.#names = csr instanceof MalformedRequest ? csr : requestedNames(csr);
      if (!(csr instanceof MalformedRequest)) this.#wrong = this.#options.scrutinise?.(request);
    }
    return this.#names;
  }
}

const unprocessed = (message: string) => ({ result: "Unprocessed", message }) as const;
const undecided = (cause: string): UndecidedReview => ({ result: "Error", cause });
const isList = <T>(step: Step<readonly T[]>): step is readonly T[] => Array.isArray(step);
