/**
 * The parts of a failure that its client may read. The messages of errors are for the log: they name servers, ports, files and accounts. An answer only says what is
 * missing, so its words must have been written for it: an error has them as `shown`. A failure without them, such as
 * an error of the system or of a library, gets a general text.
 */
import { errorText } from "./error-text.js";

/** An error with words for answers. */
export interface Shown {
  /** One sentence without addresses, files, accounts and secrets. */
  readonly shown: string;
}

/** An error whose whole message was written for clients. */
export class PublicError extends Error implements Shown {
  get shown(): string {
    return this.message;
  }
}

/**
 * The words of any exception for an answer. Never throws.
 * @param general the text where it has none
 */
export function shownText(thrown: unknown, general: string): string {
  try {
    return thrown instanceof Error && "shown" in thrown && typeof thrown.shown === "string" ? thrown.shown : general;
  } catch {
    return general;
  }
}

/** The message of any exception with that of its cause, for the log. Never throws. */
export function wholeText(thrown: unknown): string {
  const message = errorText(thrown);
  try {
    return thrown instanceof Error ? withCause(message || thrown.name, thrown.cause) : message;
  } catch {
    return message;
  }
}

/** Many messages already end in their cause's. */
const withCause = (message: string, cause: unknown): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message;

/** Most reasons kept of one evaluation, and characters of each: a guest may make a thousand calls that fail. */
const MAX_REASONS = 4;
const REASON_CHARACTERS = 1024;

/** The whole reasons of failures in one evaluation, for the log (disposable); the first ones, each once. */
export class Reasons {
  #kept: Set<string> | undefined;

  /** Adds one. */
  add(reason: string): void {
    this.#kept ??= new Set();
    if (this.#kept.size < MAX_REASONS) this.#kept.add(reason.slice(0, REASON_CHARACTERS));
  }

  /** All of them; undefined when there are none. */
  get text(): string | undefined {
    return this.#kept && [...this.#kept].join("; ");
  }
}
