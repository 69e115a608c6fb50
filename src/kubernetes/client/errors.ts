import { type Shown, shownText, wholeText } from "../../data/public-text.js";
import { publicWords } from "./public-words.js";

/** One of the API server's objections to an object: `details.causes` of its Status. */
export interface ApiCause {
  /** The place, such as `webhooks[3].rules[0].resources`: it begins with the API server's own words, and may continue with keys that an author has written. */
  readonly field: string;
  /** The API server's message, which repeats parts of the object. */
  readonly message: string;
}

/** A refusal by the API server; the message is its own. */
export class ApiError extends Error implements Shown {
  readonly code = "KUBERNETES_API";
  override readonly name = "ApiError";
  /**
   * @param status HTTP status, or the code of an error event of a watch
   * @param reason such as `NotFound`; may be empty
   * @param continuation the place at which a list continues whose own has expired (410); else empty
   * @param causes its objections to an object, one by one; none where it does not name them
   */
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly continuation = "",
    readonly causes: readonly ApiCause[] = [],
  ) {
    super(message);
  }

  get shown(): string {
    return publicWords(this.status, this.reason, this.message);
  }
}

/** Whether an object or a resource does not exist. */
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** Whether the object has changed since, or others manage it. */
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.reason !== "AlreadyExists";

/** Whether the account may not do it, or is not known. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 403 || error.status === 401);

/** The error when there is no usable answer: no connection, a time-out, too much, not JSON. */
export class ClusterUnreachable extends Error implements Shown {
  readonly code = "KUBERNETES_UNREACHABLE";
  override readonly name = "ClusterUnreachable";

  /** The text for answers: our own words; those with a cause or the server's name are not shown. */
  readonly shown: string;

  /** @param shown default the message, or general words when there is a cause */
  constructor(message: string, { shown, ...options }: ErrorOptions & Partial<Shown> = {}) {
    super(message, options);
    this.shown = shown ?? (options.cause === undefined ? message : "the API server cannot be reached");
  }
}

/** The error of an answer above the limit. */
export class AnswerTooLarge extends ClusterUnreachable {
  /**
   * @param bound such as `5 bytes`
   * @param what the subject with more
   */
  constructor(bound: string, what = "the answer") {
    super(`${what} has more than ${bound}`);
  }
}

/** The error when the connection to the cluster is not configured, or wrongly; the message names the file. */
export class ClusterConfigError extends Error implements Shown {
  readonly code = "KUBERNETES_CONFIG";
  override readonly name = "ClusterConfigError";
  readonly shown = "the policy server's access to the cluster is not set up correctly";
}

/** The error of an impossible question of a guest; the message has the words of spec kubewarden.md 7.6. */
export class ResourceError extends Error implements Shown {
  readonly code = "KUBERNETES_RESOURCE";
  override readonly name = "ResourceError";
  readonly shown: string;

  /** @param shown must be given when the message has words of others; default the message */
  constructor(message: string, { shown, ...options }: ErrorOptions & Partial<Shown> = {}) {
    super(message, options);
    this.shown = shown ?? message;
  }
}

/** The reason of any failure in one line, for the log: it may name servers, files and accounts. Never throws. */
export const reasonOf = (error: unknown): string => wholeText(error);

/** The reason of any failure for answers: what is missing, without names of servers, files and accounts. Never throws. */
export const publicReasonOf = (error: unknown): string =>
  shownText(error, "the policy server could not ask the cluster");
