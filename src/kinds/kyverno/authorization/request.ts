/** Reads requests for authorization from files (spec kyverno.md 6.3). */
import type { Value } from "../../../cel/index.js";
import { goJsonError } from "../../../data/go/json-error.js";
import { parseJson, readJson, UNIQUE_KEYS } from "../../../data/json.js";
import { JsonError } from "../../../data/json-error.js";
import { readEnvoyRequest } from "./envoy/read.js";
import { readHttpRequest } from "./http/read.js";
import type { AuthorizationMode } from "./mode.js";
import { RequestError } from "./request-error.js";

/** A request. */
export interface AuthorizationRequest {
  readonly mode: AuthorizationMode;
  /** `object`, as expressions see it. */
  readonly value: Value;
}

/** The request, or why the text cannot be read. */
export type ReadRequest =
  | { readonly ok: true; readonly request: AuthorizationRequest }
  | { readonly ok: false; readonly error: string };

/** Reads a request of a mode out of JSON. */
export function readRequest(mode: AuthorizationMode, text: string): ReadRequest {
  try {
    const value =
      mode === "HTTP"
        ? readHttpRequest(parseJson(text))
        : readEnvoyRequest(readJson(text, { unique: UNIQUE_KEYS }).value);
    return { ok: true, request: { mode, value } };
  } catch (error) {
    if (error instanceof RequestError) return { ok: false, error: error.message };
    if (!(error instanceof JsonError)) throw error;
    return { ok: false, error: goJsonError(text) ?? error.message };
  }
}
