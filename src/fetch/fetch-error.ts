/** Errors of modules, images and signatures that could not be fetched. */
import { type Shown, shownText } from "../data/public-text.js";

/** The step that failed: it decides the wording of a failure. */
export type FetchStage = "download" | "verify" | "integrity";

/** The reason with its place, in one sentence: for the log. `shown` is for answers: without hosts, addresses and files. */
export class FetchError extends Error implements Shown {
  readonly code = "MODULE_FETCH";
  override readonly name = "FetchError";
  readonly stage: FetchStage;
  /** The HTTP status, of a failure with one. */
  readonly status: number | undefined;
  /** Whether the server did not answer, or with an error of its own: the same request may succeed later. */
  readonly transient: boolean;
  /** Whether a server led to where no request is sent: there may be an answer, or not. */
  readonly unasked: boolean;
  readonly shown: string;

  constructor(message: string, options: FetchErrorOptions = {}) {
    const { stage = "download", status, unanswered = false, unasked = false, shown, ...rest } = options;
    super(message, rest);
    this.stage = stage;
    this.status = status;
    this.transient = unanswered || (status !== undefined && status >= 500);
    this.unasked = unasked;
    this.shown = shown ?? generalWords(stage, status, unanswered);
  }
}

function generalWords(stage: FetchStage, status: number | undefined, unanswered: boolean): string {
  if (status !== undefined) return `the registry answers ${status}`;
  if (unanswered) return UNREACHED;
  if (stage === "verify") return "its signatures cannot be checked";
  return stage === "integrity" ? "it has another digest than the one asked for" : "it cannot be fetched";
}

interface FetchErrorOptions extends ErrorOptions {
  readonly stage?: FetchStage;
  readonly status?: number;
  /** Whether no HTTP answer came. */
  readonly unanswered?: boolean;
  /** {@link FetchError.unasked}; default no. */
  readonly unasked?: boolean;
  /** The text for answers; default a general one. */
  readonly shown?: string;
}

/** The download folder can't be written. */
export class CannotKeep extends Error {
  override readonly name = "CannotKeep";
}

/**
 * The failure in Kubewarden's words (spec kubewarden.md 1.4).
 * @param id the policy; a member as `<group>/#<member>`
 * @param module its address as configured
 */
export function fetchFailureText(id: string, module: string, error: FetchError): string {
  switch (error.stage) {
    case "verify":
      return `Policy '${id}' cannot be verified: ${error.message}`;
    case "integrity":
      return `Verification of policy ${id} failed: ${error.message}`;
    case "download":
      return `Error while downloading policy '${id}' from ${withoutSecrets(module)}: ${error.message}`;
  }
}

/** The failure of a policy's module for the policy's clients: as {@link fetchFailureText}, without addresses. */
export function fetchFailureShown(id: string, { stage, shown: reason }: FetchError): string {
  const shown = `${reason}; the server's log says more`;
  switch (stage) {
    case "verify":
      return `Policy '${id}' cannot be verified: ${shown}`;
    case "integrity":
      return `Verification of policy ${id} failed: ${shown}`;
    case "download":
      return `Error while downloading policy '${id}': ${shown}`;
  }
}

/** Text for answers: the server did not answer. */
export const UNREACHED = "the registry or server that has it cannot be reached";

/** Text for answers: one of our limits was exceeded. */
export const TOO_LARGE = "it is too large";

/** {@link FetchError.shown} of any thrown value; undefined without a text for answers. */
export const shownOf = (cause: unknown): string | undefined => shownText(cause, "") || undefined;

/** An address for the log: without user name and password, and without the query, which may be a token. */
export function withoutSecrets(address: string): string {
  return address.replace(/^(https?:\/\/)[^/?#]*@/i, "$1…@").replace(/^(https?:\/\/[^?#]*)[?#].*$/is, "$1?…");
}

/** The message of any thrown value, with those of its causes that add something. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === "" && "code" in error ? String(error.code) : error.message;
  const parts = error instanceof AggregateError ? error.errors.map(reasonOf) : [];
  const cause = error.cause === undefined ? "" : reasonOf(error.cause);
  return [own, ...parts, cause]
    .filter((part, index, all) => part !== "" && !all.slice(0, index).some((before) => before.includes(part)))
    .join(": ");
}
