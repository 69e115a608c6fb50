/**
 * The decision record: one log line per request with the requester, the question, the answer and the reasons. It contains names and verdicts, never
 * objects, and no policy's words about a Secret.
 */
import type { Logger } from "./logger.js";

/** A group member's part in a decision. */
export interface MemberDecision {
  readonly policy: string;
  readonly outcome: string;
  readonly milliseconds: number;
  /** {@link Decision.detail} of this member. */
  readonly detail?: string;
}

/** A failed validation with an action other than Deny. */
export interface RecordedFinding {
  readonly action: string;
  readonly message: string;
  readonly policy?: string;
  readonly binding?: string;
  /** The group's member, `<member>/<member>` in a group within the group. */
  readonly member?: string;
}

/** One decision. Names follow the span fields of spec kubewarden.md 8.2. */
export interface Decision {
  readonly origin: string;
  readonly policy: string;
  readonly mode: string;
  readonly uid: string;
  /** The object's kind; absent for raw requests, like everything down to `user`. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource?: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation?: string;
  readonly dryRun?: boolean;
  readonly user?: string;
  /** The answer. */
  readonly allowed: boolean;
  readonly mutated: boolean;
  readonly code?: number;
  readonly message?: string;
  /** The policy's own result: `allow`, `deny`, `error` or `skip`. */
  readonly outcome: string;
  /** Why the policy could not decide. */
  readonly failure?: string;
  /** The whole reasons of failures, which the answer does not contain: addresses, files, accounts. */
  readonly detail?: string;
  /** The findings of Audit and Warn, as much as {@link redactDecision} leaves. */
  readonly found?: readonly RecordedFinding[];
  /** The number of further ones. */
  readonly foundLeftOut?: number;
  /** In monitor mode, what protect mode would have answered. */
  readonly monitored?: { readonly allowed: boolean; readonly mutated: boolean; readonly message?: string };
  readonly milliseconds: number;
  readonly members: readonly MemberDecision[];
}

/** Receives decisions besides the log: a tracer. */
export interface DecisionSink {
  /**
   * @param decision after {@link redactDecision}
   * @param traceparent the W3C header of the request, if it had one
   * @returns the W3C header of this decision's span; undefined: it has none of its own
   */
  record(decision: Decision, traceparent: string | undefined): string | undefined;
}

/** Longest policy message that is logged: a guest may answer with megabytes. */
const MESSAGE_CHARACTERS = 1024;
/** The kind of the core group whose contents must not reach the log, not even in the words of a policy. */
const SECRET_KIND = "Secret";
/** Most findings of Audit and Warn in a record. */
const MAX_FOUND = 10;
const REDACTED = "[redacted]";

/** The decision without what must not leave the server: words about a Secret, and the rest of a long message. */
export function redactDecision(decision: Decision): Decision {
  const { message, detail, monitored, kind, members, found = [] } = decision;
  return {
    ...decision,
    ...(detail !== undefined && { detail: redact(detail, kind) }),
    ...(members.some((member) => member.detail !== undefined) && {
      members: members.map((member) =>
        member.detail === undefined ? member : { ...member, detail: redact(member.detail, kind) },
      ),
    }),
    ...(found.length > 0 && {
      found: found.slice(0, MAX_FOUND).map((each) => ({ ...each, message: redact(each.message, kind) })),
    }),
    ...(found.length > MAX_FOUND && { foundLeftOut: found.length - MAX_FOUND }),
    ...(message !== undefined && { message: redact(message, kind) }),
    ...(monitored?.message !== undefined && {
      monitored: { ...monitored, message: redact(monitored.message, kind) },
    }),
  };
}

/**
 * Writes a redacted decision. Failures of policies are warnings, so that they are seen even where decisions are not logged.
 * @param traceparent the W3C header of the span that it belongs to, if there is one
 */
export function logDecision(logger: Logger, decision: Decision, traceparent?: string): void {
  const level = decision.outcome === "error" ? "warn" : "info";
  if (!logger.enabled(level)) return;
  logger.log(
    level,
    decision.monitored === undefined ? "policy evaluated" : "policy evaluation (monitor mode)",
    fieldsOf(decision),
    traceparent,
  );
}

/** The fields of a decision, under the names of spec kubewarden.md 8.2. */
export function fieldsOf(decision: Decision) {
  const { kind, resource, monitored, members } = decision;
  return {
    origin: decision.origin,
    policy_id: decision.policy,
    policy_mode: decision.mode,
    request_uid: decision.uid,
    kind_group: kind?.group,
    kind_version: kind?.version,
    kind: kind?.kind,
    resource_group: resource?.group,
    resource_version: resource?.version,
    resource: resource?.resource,
    subresource: decision.subresource,
    name: decision.name,
    namespace: decision.namespace,
    operation: decision.operation,
    dry_run: decision.dryRun,
    user: decision.user,
    allowed: decision.allowed,
    mutated: decision.mutated,
    response_code: decision.code,
    response_message: decision.message,
    outcome: decision.outcome,
    failure: decision.failure,
    detail: decision.detail,
    found: decision.found,
    found_left_out: decision.foundLeftOut,
    would_be: monitored,
    duration_ms: round(decision.milliseconds),
    members:
      members.length === 0
        ? undefined
        : members.map((member) => ({ ...member, milliseconds: round(member.milliseconds) })),
  };
}

function redact(message: string, kind: Decision["kind"]): string {
  if (message === "") return message;
  if (kind?.group === "" && kind.kind === SECRET_KIND) return REDACTED;
  return message.length > MESSAGE_CHARACTERS ? `${message.slice(0, MESSAGE_CHARACTERS)}…` : message;
}

/** A time rounded to microseconds. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}
