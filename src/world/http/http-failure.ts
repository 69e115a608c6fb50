import type { Shown } from "../../data/public-text.js";
import { wholeText } from "../../data/public-text.js";
import { BlockedAddress } from "./connector.js";

/** The error when there is no answer of an HTTP server. The message is for answers, in the reference's words as far as it has some. */
export class HttpFailure extends Error implements Shown {
  override readonly name = "HttpFailure";
  /** The text with the system's own error, for the log; `undefined` where that adds nothing. */
  readonly detail: string | undefined;
  /** Why a request that was begun failed, as in the message; `undefined` for one that is refused before. */
  readonly reason: string | undefined;

  constructor(message: string, { cause, reason }: { readonly cause?: unknown; readonly reason?: string } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.detail = cause === undefined ? undefined : `${message}: ${wholeText(cause)}`;
    this.reason = reason;
  }

  /** The failure of a request that was begun. */
  static begun(reason: string, cause?: unknown): HttpFailure {
    return new HttpFailure(`request failed: ${reason}`, { cause, reason });
  }

  get shown(): string {
    return this.message;
  }
}

/** Texts for connection errors: the system's own name addresses that the policy did not. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset by peer",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "network is unreachable",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the host's name cannot be resolved at the moment",
  EPIPE: "broken pipe",
  ETIMEDOUT: "i/o timeout",
  UND_ERR_BODY_TIMEOUT: "i/o timeout",
  UND_ERR_CONNECT_TIMEOUT: "i/o timeout",
  UND_ERR_HEADERS_TIMEOUT: "i/o timeout",
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too large",
  UND_ERR_SOCKET: "the server has closed the connection",
};

const CERTIFICATES = /CERT|SIGNATURE|ALTNAME|ISSUER|UNABLE_TO/;

/** The text of a connection's error, for answers. @param where `host:port` */
export function connectionWords(error: unknown, where: string): string {
  for (const each of chain(error)) {
    if (each instanceof BlockedAddress) return `connection to ${where} blocked: ${each.reason}`;
    const { code } = each as { readonly code?: unknown };
    if (typeof code !== "string") continue;
    const words = WORDS[code];
    if (words !== undefined) return words;
    if (CERTIFICATES.test(code)) return "tls: failed to verify certificate";
    if (code.startsWith("ERR_SSL") || code === "EPROTO") return "tls: the handshake failed";
  }
  return "the server cannot be reached";
}

/** Whether the error is a blocked address. */
export const isBlocked = (error: unknown): boolean => [...chain(error)].some((each) => each instanceof BlockedAddress);

/** An error, those that it collects, and its cause. */
function* chain(error: unknown): Iterable<Error> {
  if (!(error instanceof Error)) return;
  yield error;
  if (error instanceof AggregateError) for (const each of error.errors) yield* chain(each);
  if (error.cause !== error) yield* chain(error.cause);
}
