import type { IncomingMessage } from "node:http";
import type { AdmissionResponse } from "../admission/admission-response.js";
import type { Writable } from "../data/writable.js";
import type { Outcome } from "../policy/index.js";
import type { Review } from "../policy/review.js";
import type { JoinedVerdict } from "../policy/served/joined-verdict.js";
import { type RequestOrigin, uidOf, type Verdict } from "../policy/served/verdict.js";
import {
  type Decision,
  type DecisionSink,
  logDecision,
  type MemberDecision,
  type RecordedFinding,
  redactDecision,
} from "../telemetry/decision.js";
import type { Logger } from "../telemetry/logger.js";
import type { Metrics } from "../telemetry/metrics.js";
import type { RequestRecorder } from "../telemetry/recording/index.js";

/** The destinations of reports. */
export interface ReportSinks {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Receives traces; absent: there are none. */
  readonly tracer?: DecisionSink;
  /** Receives requests with their answers; absent: they are not recorded. */
  readonly recorder?: RequestRecorder;
}

/**
 * Counts, logs and traces one evaluation.
 * @param traceparent the W3C header of the request, if it had one
 */
export function report(
  { metrics, logger, tracer }: ReportSinks,
  review: Review,
  origin: RequestOrigin,
  verdict: Verdict,
  traceparent: string | undefined,
): void {
  count(metrics, review, origin, verdict);
  const logged = logger.enabled(verdict.outcome.verdict === "error" ? "warn" : "info");
  if (!logged && tracer === undefined) return;
  const decision = redactDecision(decisionOf(review, origin, verdict));
  const span = tracer?.record(decision, traceparent) ?? traceparent;
  if (logged) logDecision(logger, decision, span);
}

/** Counts each policy of a set by itself, and logs and traces their common answer. */
export function reportSet(
  { metrics, logger, tracer }: ReportSinks,
  review: Review,
  origin: RequestOrigin,
  verdict: JoinedVerdict,
  traceparent: string | undefined,
): void {
  for (const member of verdict.members) count(metrics, review, origin, member);
  const decisive = decisiveOf(verdict);
  const logged = logger.enabled(decisive.outcome.verdict === "error" ? "warn" : "info");
  if (!logged && tracer === undefined) return;
  const decision = redactDecision(setDecision(review, origin, verdict, decisive));
  const span = tracer?.record(decision, traceparent) ?? traceparent;
  if (logged) logDecision(logger, decision, span);
}

/** The member whose outcome is that of the set: the first that refuses the request, else one that would have, else one that applies. */
function decisiveOf({ members }: JoinedVerdict): Verdict {
  const by =
    members.find(({ response }) => !response.allowed) ??
    members.find(({ outcome }) => outcome.verdict === "error") ??
    members.find(({ vanilla }) => !vanilla.allowed) ??
    members.find(({ outcome }) => outcome.verdict === "allow") ??
    members[0];
  if (by === undefined) throw new Error("a set without members was asked");
  return by;
}

function setDecision(review: Review, origin: RequestOrigin, verdict: JoinedVerdict, decisive: Verdict): Decision {
  const { set, members, response, milliseconds } = verdict;
  const { monitored, found: _, ...one } = decisionOf(review, origin, decisive);
  const { status } = response;
  const details = members.flatMap(({ entry, outcome }) =>
    outcome.detail === undefined ? [] : `${entry.id}: ${outcome.detail}`,
  );
  const found = members.flatMap(({ entry, outcome }) => recorded(outcome, entry.id));
  return {
    ...one,
    policy: set.id,
    mode: "protect",
    allowed: response.allowed,
    mutated: response.patch !== undefined,
    ...(status?.message !== undefined && { message: status.message }),
    ...(found.length > 0 && { found }),
    ...(details.length > 0 && { detail: details.join("; ") }),
    // A denial by a policy in monitor mode is what the set would have answered, unless another one refuses the request anyway.
    ...(response.allowed && monitored !== undefined && { monitored }),
    milliseconds,
    members: members.map(({ entry, outcome, milliseconds: time }) => ({
      policy: entry.id,
      outcome: outcome.verdict,
      milliseconds: time,
    })),
  };
}

function count(metrics: Metrics, review: Review, origin: RequestOrigin, verdict: Verdict): void {
  const { entry, outcome, vanilla, milliseconds, observations } = verdict;
  for (const { policy, outcome: member, milliseconds: time } of observations) {
    metrics.memberEvaluated(policy, member.verdict, time);
    countFound(metrics, origin, policy, member);
  }
  countFound(metrics, origin, entry.id, outcome);
  if (outcome.verdict === "error") metrics.failed(entry.id, outcome.cause);
  if (entry.unavailable !== undefined) {
    metrics.initializationError(entry.id, entry.unavailable);
    return;
  }
  const request = review.kind === "admission" ? review.request : undefined;
  metrics.evaluated({
    policy: entry.id,
    mode: entry.mode,
    kind: request && (request.requestKind?.kind ?? ""),
    operation: request?.operation,
    namespace: request?.namespace,
    accepted: vanilla.allowed,
    mutated: vanilla.patch !== undefined,
    origin: request && origin,
    code: vanilla.status?.code,
    milliseconds,
  });
}

/** Counts findings where they were made: a group repeats those of its members. The audit scanner asks about the same objects again and again. */
function countFound(metrics: Metrics, origin: RequestOrigin, policy: string, { found = [] }: Outcome): void {
  if (origin === "audit") return;
  for (const { action, member } of found) if (member === undefined) metrics.found(policy, action);
}

/** The findings of an outcome; of a set's policy with its id before that of members. */
const recorded = ({ found = [] }: Outcome, set?: string): readonly RecordedFinding[] =>
  found.map(({ action, message, policy, binding, member }) => {
    const by = [set, member].filter((part) => part !== undefined).join("/");
    return { action, message, ...(policy && { policy }), ...(binding && { binding }), ...(by && { member: by }) };
  });

function decisionOf(review: Review, origin: RequestOrigin, verdict: Verdict): Decision {
  const { entry, outcome, vanilla, response, milliseconds, observations } = verdict;
  const { status } = response;
  const decision: Writable<Decision> = {
    origin,
    policy: entry.id,
    mode: entry.mode,
    uid: uidOf(review),
    allowed: response.allowed,
    mutated: response.patch !== undefined,
    outcome: outcome.verdict,
    milliseconds,
    members: observations.map(memberDecision),
  };
  if (review.kind === "admission") addRequestFields(decision, review.request);
  if (status?.code !== undefined) decision.code = status.code;
  if (status?.message !== undefined) decision.message = status.message;
  if (outcome.verdict === "error") decision.failure = outcome.cause;
  if (outcome.detail !== undefined) decision.detail = outcome.detail;
  if (outcome.found !== undefined) decision.found = recorded(outcome);
  const would = { allowed: vanilla.allowed, mutated: vanilla.patch !== undefined };
  if (entry.mode === "monitor" && origin !== "audit" && (!would.allowed || would.mutated)) {
    const message = vanilla.status?.message;
    decision.monitored = message === undefined ? would : { ...would, message };
  }
  return decision;
}

function memberDecision({ policy, outcome, milliseconds }: Verdict["observations"][number]): MemberDecision {
  const { verdict, detail } = outcome;
  return { policy, outcome: verdict, milliseconds, ...(detail !== undefined && { detail }) };
}

/** The answer of a webhook. */
export interface AnsweredWebhook {
  readonly name: string;
  readonly response: AdmissionResponse;
  readonly milliseconds: number;
}

/** Logs and traces a webhook's answer, like that of a policy. */
export function reportWebhook(
  { logger, tracer }: ReportSinks,
  request: Request,
  origin: string,
  { name, response, milliseconds }: AnsweredWebhook,
  traceparent: string | undefined,
): void {
  const { allowed, status } = response;
  const failed = (status?.code ?? 0) >= INTERNAL_ERROR;
  const logged = logger.enabled(failed ? "warn" : "info");
  if (!logged && tracer === undefined) return;
  const told: Writable<Decision> = {
    origin,
    policy: name,
    mode: "protect",
    uid: request.uid,
    allowed,
    mutated: false,
    ...(status?.code !== undefined && { code: status.code }),
    ...(status?.message !== undefined && { message: status.message }),
    outcome: failed ? "error" : allowed ? "allow" : "deny",
    milliseconds,
    members: [],
  };
  addRequestFields(told, request);
  const decision = redactDecision(told);
  const span = tracer?.record(decision, traceparent) ?? traceparent;
  if (logged) logDecision(logger, decision, span);
}

/** The status from which on the webhook itself has failed. */
const INTERNAL_ERROR = 500;

type Request = Extract<Review, { kind: "admission" }>["request"];

/** Adds the request's fields. */
function addRequestFields(decision: Writable<Decision>, request: Request): void {
  const { kind, resource, operation, subResource, name, namespace, dryRun, userInfo } = request;
  decision.kind = kind;
  decision.resource = resource;
  decision.operation = operation;
  if (subResource !== undefined) decision.subresource = subResource;
  if (name !== undefined) decision.name = name;
  if (namespace !== undefined) decision.namespace = namespace;
  if (dryRun !== undefined) decision.dryRun = dryRun;
  if (userInfo.username !== undefined) decision.user = userInfo.username;
}

/** The W3C header of a request, if it has one. */
export function traceparentOf({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === "string" ? traceparent : undefined;
}
