/**
 * Turns an outcome into an answer; the one place that does: the vanilla response, then monitor mode, the mutation rule and the custom message, in
 * this order (spec kubewarden.md 4.1 to 4.5).
 */
import type { AdmissionResponse, ResponseStatus, StatusCause } from "../../admission/admission-response.js";
import { encodePatch } from "../../admission/encode.js";
import { presentableWarnings } from "../../admission/warnings.js";
import { withFailures } from "../audit-annotations.js";
import { hasJudged } from "../evaluation-run.js";
import type { Cause, Deny, Failure, Mutation, Outcome } from "../outcome.js";
import type { Observation } from "../policy.js";
import type { Review } from "../review.js";
import type { ServedPolicy } from "./policy-set.js";

/** The origin of a request: admission, the audit scanner, or a client with any JSON. */
export type RequestOrigin = "validate" | "audit" | "validate_raw";

/** An answer, with the details for metrics and the decision record. */
export interface Verdict {
  readonly entry: ServedPolicy;
  /** The policy's outcome. */
  readonly outcome: Outcome;
  /** The response before monitor mode, mutation rule and custom message: metrics count it. */
  readonly vanilla: AdmissionResponse;
  /** The response to the client. */
  readonly response: AdmissionResponse;
  /** Milliseconds from call to outcome. */
  readonly milliseconds: number;
  /** Members of groups that were evaluated. */
  readonly observations: readonly Observation[];
  /** Monotonic milliseconds after which it no longer counts, even if it only has to be sent. */
  readonly deadline: number;
}

/** Whether the policy, or a member of the group, matched the request, whatever it said. */
export const isJudged = ({ outcome, observations }: Verdict): boolean => hasJudged(outcome, observations);

const MUTATION_OF_NOTHING =
  "Incoming object is null, which happens only with DELETE operations, but the policy is attempting a mutation. This is not allowed";
const INTERNAL_ERROR = 500;

/** Turns an outcome into an answer. */
export function decide(
  entry: ServedPolicy,
  review: Review,
  outcome: Outcome,
  origin: RequestOrigin,
  { milliseconds, observations, deadline }: Pick<Verdict, "milliseconds" | "observations" | "deadline">,
): Verdict {
  const vanilla = vanillaResponse(review, outcome);
  const final = outcome.verdict === "error" && outcome.final === true;
  const adjusted = withoutPatchOfDenial(origin === "audit" || final ? vanilla : adjust(entry, vanilla));
  const response = origin === "validate" ? presentable(adjusted) : withAccount(adjusted, outcome, origin);
  return { entry, outcome, vanilla, response, milliseconds, observations, deadline };
}

/** Removes the patch of a denial: a client that looked at the patch alone would take it for an admission. */
function withoutPatchOfDenial(response: AdmissionResponse): AdmissionResponse {
  if (response.allowed || response.patch === undefined) return response;
  const { patch: _, ...denial } = response;
  return denial;
}

/** Adds the account of the policy's findings, also where monitor mode accepts everything. */
function withAccount(response: AdmissionResponse, { account }: Outcome, origin: RequestOrigin): AdmissionResponse {
  return account === undefined || origin !== "validate_raw" ? response : { ...response, account: account() };
}

/**
 * Makes a response that the API server and kubectl show as a whole: they drop or cut some warnings, and of an invalid object they may show its causes
 * only.
 */
function presentable(response: AdmissionResponse): AdmissionResponse {
  const { warnings, status } = response;
  const shown = warnings && presentableWarnings(warnings);
  const explained = status && withMessageAmongCauses(status);
  if (shown === warnings && explained === status) return response;
  return { ...response, ...(shown && { warnings: shown }), ...(explained && { status: explained }) };
}

/**
 * Puts the message among the causes: `kubectl apply` prints an object's causes in place of the message when the reason is Invalid, `kubectl create`
 * the message.
 */
export function withMessageAmongCauses(status: ResponseStatus): ResponseStatus {
  const { reason, message, details } = status;
  const causes = details?.causes ?? [];
  if (reason !== "Invalid" || message === undefined || causes.length === 0) return status;
  if (causes.some((cause) => cause.message === message)) return status;
  return { ...status, details: { ...details, causes: [{ reason: null, message, field: null }, ...causes] } };
}

/** The uid of an answer: the request's; of a raw request its `uid` when it has one (spec kubewarden.md 3.4). */
export function uidOf(review: Review): string {
  if (review.kind === "admission") return review.request.uid;
  const { payload } = review;
  if (typeof payload !== "object" || payload === null || !Object.hasOwn(payload, "uid")) return "";
  const { uid } = payload as { uid?: unknown };
  return typeof uid === "string" ? uid : "";
}

/** The policy's response before the settings of its entry. */
function vanillaResponse(review: Review, outcome: Outcome): AdmissionResponse {
  const uid = uidOf(review);
  switch (outcome.verdict) {
    case "skip":
      return { uid, allowed: true, ...findings(outcome) };
    case "error":
      return { uid, allowed: false, status: failureStatus(outcome), ...findings(outcome) };
    case "allow":
    case "deny": {
      const allowed = outcome.verdict === "allow";
      const status = allowed ? statusOf(outcome.message, outcome.code) : denialStatus(outcome);
      const found = findings(outcome);
      const base =
        status === undefined && found === NONE
          ? { uid, allowed }
          : { uid, allowed, ...(status && { status }), ...found };
      return outcome.mutation === undefined ? base : withPatch(base, review, outcome.mutation);
    }
  }
}

function findings({
  warnings,
  auditAnnotations: own,
  found,
}: Outcome): Pick<AdmissionResponse, "warnings" | "auditAnnotations"> {
  const auditAnnotations = found === undefined ? own : withFailures(own, found);
  if (warnings === undefined && auditAnnotations === undefined) return NONE;
  return { ...(auditAnnotations && { auditAnnotations }), ...(warnings && { warnings }) };
}

const NONE: ReturnType<typeof findings> = {};

function statusOf(message: string | undefined, code: number | undefined): ResponseStatus | undefined {
  if (message === undefined && code === undefined) return undefined;
  return { ...(message !== undefined && { message }), ...(code !== undefined && { code }) };
}

function failureStatus({ message, code, reason, causes }: Failure): ResponseStatus {
  return {
    message,
    code: code ?? INTERNAL_ERROR,
    ...(reason !== undefined && { reason }),
    ...(causes && causes.length > 0 && { details: { causes } }),
  };
}

function denialStatus({ message, code, reason, causes, status }: Deny): ResponseStatus | undefined {
  const given = status && Object.fromEntries(Object.entries(status).filter(([, value]) => (value ?? null) !== null));
  const plain = statusOf(message, code);
  if (reason === undefined && causes === undefined && given === undefined) return plain;
  return {
    ...given,
    ...plain,
    ...(reason !== undefined && { reason }),
    // Without causes there is still `{}`: a group that no member denied (spec kubewarden.md 5.3).
    ...(causes !== undefined && { details: causes.length === 0 ? {} : { causes } }),
  };
}

function withPatch(response: AdmissionResponse, review: Review, mutation: Mutation): AdmissionResponse {
  if (mutation.kind === "patch") return { ...response, patch: mutation.patch };
  const before = review.kind === "raw" ? review.payload : review.request.object;
  const nothing = before === undefined || (before === null && review.kind === "admission");
  if (mutation.kind === "of-nothing" || nothing)
    return { uid: response.uid, allowed: false, status: { message: MUTATION_OF_NOTHING } };
  const patch = encodePatch(before, mutation.object);
  return patch === undefined ? response : { ...response, patch };
}

/** Applies the entry's settings: monitor mode, the mutation rule, the custom message (spec kubewarden.md 4.2 to 4.4). */
function adjust(entry: ServedPolicy, vanilla: AdmissionResponse): AdmissionResponse {
  if (entry.mode === "monitor") {
    const { patch, status, ...rest } = vanilla;
    return patch === undefined && status === undefined && vanilla.allowed ? vanilla : { ...rest, allowed: true };
  }
  let response = vanilla;
  if (response.patch !== undefined && !entry.allowedToMutate) {
    const { patch: _, ...rest } = response;
    response = { ...rest, allowed: false, status: { message: mutationForbidden(entry.id) } };
  }
  if (response.allowed || entry.message === undefined) return response;
  return { ...response, status: customStatus(response.status, entry.message) };
}

/** The message where a policy may not change what it wants to. */
export function mutationForbidden(id: string): string {
  return `Request rejected by policy ${id}. The policy attempted to mutate the request, but it is currently configured to not allow mutations.`;
}

function customStatus(status: ResponseStatus | undefined, message: string): ResponseStatus {
  const former: StatusCause = { reason: null, message: status?.message ?? "", field: null };
  const causes: readonly Cause[] = [...(status?.details?.causes ?? []), former];
  return { ...status, message, details: { ...status?.details, causes } };
}
