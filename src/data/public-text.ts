/**
 * What of a failure its client may read. The messages of errors are for the log: they name servers, ports, files and accounts. An answer says what is
 * missing and no more, so words go into it only when somebody has made them for it: an error says them as `shown`. What says nothing, such as
 * an error of the system or of a library, is told in general words.
 */
import { errorText } from "./error-text.js";

/** An error that has words for answers. */
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
 * The words of anything thrown for an answer. Never throws.
 * @param general said in place of what has none
 */
export function shownText(thrown: unknown, general: string): string {
  try {
    return thrown instanceof Error && "shown" in thrown && typeof thrown.shown === "string" ? thrown.shown : general;
  } catch {
    return general;
  }
}

/** The message of anything thrown with that of its cause, for the log. Never throws. */
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

/** The whole reasons of what failed in one evaluation, for the log (disposable); the first ones, each once. */
export class Reasons {
  #kept: Set<string> | undefined;

  /** Remembers one. */
  add(reason: string): void {
    this.#kept ??= new Set();
    if (this.#kept.size < MAX_REASONS) this.#kept.add(reason.slice(0, REASON_CHARACTERS));
  }

  /** All of them; undefined when there are none. */
  get text(): string | undefined {
    return this.#kept && [...this.#kept].join("; ");
  }
}
