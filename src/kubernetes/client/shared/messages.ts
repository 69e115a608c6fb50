/** The messages between processes and the one that keeps their stores. Plain data. */

import type { LogPlace } from "../byte-log.js";
import type { ApiResource } from "../discovery.js";
import { ApiError, ClusterConfigError, ClusterUnreachable, ResourceError } from "../errors.js";
import type { StoreScope } from "../object-stores.js";

/** Selects the objects of a store. */
export type StoreSelection =
  | { readonly kind: "list"; readonly scope: StoreScope }
  | { readonly kind: "named"; readonly namespace: string; readonly name: string };

/** Messages to the process that keeps the stores. Ids count up in each process. */
export type ToKeeper =
  | {
      readonly type: "open";
      readonly id: number;
      readonly resource: ApiResource;
      readonly selection: StoreSelection;
    }
  /** The stores are still used. */
  | { readonly type: "used"; readonly ids: readonly number[] }
  | { readonly type: "close"; readonly id: number };

/** An object: its key, and the place of its text in a log, or its text. */
export type SharedEntry =
  | readonly [key: string, log: number, at: number, length: number]
  | readonly [key: string, text: string];

/** Messages from the process that keeps the stores. */
export type FromKeeper =
  /** A log that later entries refer to. */
  | { readonly type: "log"; readonly place: LogPlace }
  /** No entry refers to the log any more. */
  | { readonly type: "log-gone"; readonly number: number }
  /** The contents of a store change. */
  | {
      readonly type: "entries";
      readonly id: number;
      /** Whether these are all entries. */
      readonly anew: boolean;
      readonly put: readonly SharedEntry[];
      readonly gone: readonly string[];
    }
  /** All entries sent so far for these stores are the state of this version. */
  | { readonly type: "state"; readonly ids: readonly number[]; readonly version: string }
  /** The store cannot be used until the next message about it. */
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
      // An unknown error is not shown.
      return new ClusterUnreachable(message, { shown: shown ?? "the API server cannot be reached" });
  }
}
