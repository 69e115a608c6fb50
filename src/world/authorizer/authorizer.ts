/**
 * Decides whether a user may do something: the answers of `authorizer` in expressions. Files bring allowed checks offline, a
 * SubjectAccessReview answers in a cluster.
 */
import { NO_CLIENT } from "../../kubernetes/reader.js";
import type { Eventual } from "../eventual.js";
import { LookupFailure } from "../resources/resource-source.js";

/** The user of a question. */
export interface AuthorizerUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** One question: a resource check (with `resource`) or a path check (with `path`). Unset parts are `""`. */
export interface AuthorizerAttributes {
  readonly user: AuthorizerUser;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  /** The selectors as text in canonical form; `""` when unset or unparsable. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
  /** The error of unparsable selectors. */
  readonly selectorError: string;
}

/** The answer. Only `allow` counts as allowed. */
export interface AuthorizerDecision {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason: string;
  /** Set when the authorizer could not decide; expressions may show it, so it names no addresses and accounts. */
  readonly error?: string;
  /** The whole error where it is longer, for the log only. */
  readonly detail?: string;
}

/** Decides questions; by a promise when another server has to be asked. */
export interface Authorizer {
  /** A {@link LookupFailure} is not a decision, as one with an error is, but ends the request: there is no source to ask. */
  authorize(attributes: AuthorizerAttributes): Eventual<AuthorizerDecision | LookupFailure>;
}

/** The answer when the authorizer could not be asked. */
export const undecidedFor = ({ message, detail }: LookupFailure): AuthorizerDecision => ({
  decision: "noOpinion",
  reason: "",
  error: message,
  ...(detail !== undefined && { detail }),
});

/** Has no opinion on any question: for worlds without rights. */
export const NO_OPINION: Authorizer = {
  authorize: () => ({ decision: "noOpinion", reason: "" }),
};

/** Stands in for the cluster that should be asked, but is missing: every question fails. */
export const OUT_OF_REACH: Authorizer = {
  authorize: () => new LookupFailure(NO_CLIENT),
};

/** Whether an authorizer only stands in for a missing one: callers that depend on its answers must not begin. */
export const isNobody = (authorizer: Authorizer): boolean => authorizer === NO_OPINION || authorizer === OUT_OF_REACH;
