import { type Shown, shownText, wholeText } from "../../data/public-text.js";
import { publicWords } from "./public-words.js";

/** One thing that the API server has against an object: `details.causes` of its Status. */
export interface ApiCause {
  /** Where, such as `webhooks[3].rules[0].resources`: it begins with the API server's own words, and may go on with keys that an author has written. */
  readonly field: string;
  /** In its words, which repeat what is written there. */
  readonly message: string;
}

/** The API server has refused; the message is its own. */
export class ApiError extends Error implements Shown {
  readonly code = "KUBERNETES_API";
  override readonly name = "ApiError";
  /**
   * @param status HTTP status, or the code of an error event of a watch
   * @param reason such as `NotFound`; may be empty
   * @param continuation from where a list may go on whose place has been forgotten (410); else empty
   * @param causes what it has against an object, one by one; none where it does not say
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

/** There is no such object, or no such resource. */
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** There is an object of that name already: what was to be created. */
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.reason === "AlreadyExists";

/** What was to be written has changed since, or others manage it. */
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.reason !== "AlreadyExists";

/** The object is not as its kind must be. */
export const isInvalid = (error: unknown): boolean => error instanceof ApiError && error.status === 422;

/** The account may not do it. */
export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

/** There is no answer that can be used: no connection, time ran out, too much, no JSON. */
export class ClusterUnreachable extends Error implements Shown {
  readonly code = "KUBERNETES_UNREACHABLE";
  override readonly name = "ClusterUnreachable";

  /** Words of ours are shown; those that come with a cause or name the server are not. */
  readonly shown: string;

  /** @param shown default the message, or general words when there is a cause */
  constructor(message: string, { shown, ...options }: ErrorOptions & Partial<Shown> = {}) {
    super(message, options);
    this.shown = shown ?? (options.cause === undefined ? message : "the API server cannot be reached");
  }
}

/** The API server says more than may be read. */
export class AnswerTooLarge extends ClusterUnreachable {
  /**
   * @param bound such as `5 bytes`
   * @param what has more
   */
  constructor(bound: string, what = "the answer") {
    super(`${what} has more than ${bound}`);
  }
}

/** The way to the cluster is not described, or wrongly; the message names the file. */
export class ClusterConfigError extends Error implements Shown {
  readonly code = "KUBERNETES_CONFIG";
  override readonly name = "ClusterConfigError";
  readonly shown = "the policy server's access to the cluster is not set up correctly";
}

/** A guest asked for what cannot be; the message has the words of spec kubewarden.md 7.6. */
export class ResourceError extends Error implements Shown {
  readonly code = "KUBERNETES_RESOURCE";
  override readonly name = "ResourceError";
  readonly shown: string;

  /** @param shown to be given when the message has words of others; default the message */
  constructor(message: string, { shown, ...options }: ErrorOptions & Partial<Shown> = {}) {
    super(message, options);
    this.shown = shown ?? message;
  }
}

/** The reason of any failure in one line, for the log: it may name servers, files and accounts. Never throws. */
export const reasonOf = (error: unknown): string => wholeText(error);

/** The reason of any failure for answers: what is missing, without servers, files and accounts. Never throws. */
export const publicReasonOf = (error: unknown): string =>
  shownText(error, "the policy server could not ask the cluster");
