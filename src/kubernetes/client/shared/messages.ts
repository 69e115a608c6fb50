/** What processes say to the one that keeps their stores, and what they hear. Plain data. */

import type { LogPlace } from "../byte-log.js";
import type { ApiResource } from "../discovery.js";
import { ApiError, ClusterConfigError, ClusterUnreachable, ResourceError } from "../errors.js";
import type { StoreScope } from "../object-stores.js";

/** Which objects a store holds. */
export type StoreSelection =
  | { readonly kind: "list"; readonly scope: StoreScope }
  | { readonly kind: "named"; readonly namespace: string; readonly name: string };

/** To the process that keeps the stores. Ids count up in each process that asks. */
export type ToKeeper =
  | {
      readonly type: "open";
      readonly id: number;
      readonly resource: ApiResource;
      readonly selection: StoreSelection;
    }
  /** Still wanted. */
  | { readonly type: "used"; readonly ids: readonly number[] }
  | { readonly type: "close"; readonly id: number };

/** An object: its key, and where its text stands in a log, or its text. */
export type SharedEntry =
  | readonly [key: string, log: number, at: number, length: number]
  | readonly [key: string, text: string];

/** From it. */
export type FromKeeper =
  /** A log that entries will name. */
  | { readonly type: "log"; readonly place: LogPlace }
  /** No entry names it any more. */
  | { readonly type: "log-gone"; readonly number: number }
  /** What a store holds changes. */
  | {
      readonly type: "entries";
      readonly id: number;
      /** It holds nothing else. */
      readonly anew: boolean;
      readonly put: readonly SharedEntry[];
      readonly gone: readonly string[];
    }
  /** All that was sent so far of these is the state of this version. */
  | { readonly type: "state"; readonly ids: readonly number[]; readonly version: string }
  /** It is of no use, as long as nothing else is said. */
  | { readonly type: "problem"; readonly id: number; readonly problem: WireError; readonly final: boolean };

/** An error as it is sent. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly shown?: string;
  readonly status?: number;
  readonly reason?: string;
}

/** An error, to be sent. */
export function toWire(error: unknown): WireError {
  if (error instanceof ApiError) {
    return { code: error.code, message: error.message, status: error.status, reason: error.reason };
  }
  if (error instanceof ClusterUnreachable || error instanceof ResourceError || error instanceof ClusterConfigError) {
    return { code: error.code, message: error.message, shown: error.shown };
  }
  return { code: "", message: error instanceof Error ? error.message : String(error) };
}

/** An error that was sent. */
export function fromWire({ code, message, shown, status = 500, reason = "" }: WireError): Error {
  const words = shown === undefined ? {} : { shown };
  switch (code) {
    case "KUBERNETES_API":
      return new ApiError(status, reason, message);
    case "KUBERNETES_RESOURCE":
      return new ResourceError(message, words);
    case "KUBERNETES_CONFIG":
      return new ClusterConfigError(message);
    default:
      // What is not known is not shown.
      return new ClusterUnreachable(message, { shown: shown ?? "the API server cannot be reached" });
  }
}
