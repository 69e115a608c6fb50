/** The host's questions to a cluster on behalf of guests. A Kubernetes client implements it; without one, {@link NO_CLUSTER} stands in. */
import { stringifyJson } from "../data/json.js";
import { PublicError } from "../data/public-text.js";
import type { TextPieces } from "./client/text-pieces.js";

/** A Kubernetes kind as guests name it. */
export interface ResourceKind {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** Narrows a list. Selectors have the API server's syntax. */
export interface ListQuery {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Names one object. */
export interface GetQuery {
  readonly name: string;
  readonly namespace?: string;
}

/** A SubjectAccessReview's question. */
export interface AccessQuestion {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly resourceAttributes: Readonly<Record<string, string>>;
}

/** A SubjectAccessReview's status. */
export interface AccessAnswer {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

/** All resources of one kind, as Rego policies get them. */
export interface ResourceSnapshot {
  readonly kind: ResourceKind;
  /** Plural name of the resource, such as `pods`. */
  readonly plural: string;
  readonly namespaced: boolean;
  readonly items: readonly unknown[];
}

/** The objects of a list as JSON texts in UTF-8. They do not change afterwards. */
export interface ObjectTexts {
  readonly count: number;
  /** Bytes of all texts. */
  readonly bytes: number;
  /** An object that identifies this version of the object at an index. */
  identity(index: number): object;
  /** The text of the object at an index; it may be part of a larger buffer, and must not be changed. */
  text(index: number): Uint8Array;
  /** All texts with commas between them, for another thread to join; absent, or `undefined`: only this thread can read them. */
  pieces?(head: Uint8Array, tail: Uint8Array): TextPieces | undefined;
}

/** The texts of objects in memory. */
export function textsOf(objects: readonly object[]): ObjectTexts {
  const texts = objects.map((object) => Buffer.from(stringifyJson(object)));
  const at = <T>(list: readonly T[], index: number): T => {
    const found = list[index];
    if (found === undefined) throw new RangeError(`there is no object ${index}`);
    return found;
  };
  return {
    count: texts.length,
    bytes: texts.reduce((sum, { length }) => sum + length, 0),
    identity: (index) => at(objects, index),
    text: (index) => at(texts, index),
  };
}

/**
 * Reads a cluster. Nothing is masked, and only lists that are watched anyway are cached. Every method rejects with an Error whose message is
 * the reason text of spec kubewarden.md 7.6; the signal is aborted when the caller waits no longer.
 */
export interface KubernetesReader {
  /** One object, as the API server gave it. */
  get(kind: ResourceKind, query: GetQuery, signal: AbortSignal): Promise<unknown>;
  /** The items of a list: `managedFields` emptied, without the last-applied annotation. */
  list(kind: ResourceKind, query: ListQuery, signal: AbortSignal): Promise<readonly unknown[]>;
  /** The same as texts, which takes little memory where there are many. */
  texts(kind: ResourceKind, query: ListQuery, signal: AbortSignal): Promise<ObjectTexts>;
  canI(question: AccessQuestion, signal: AbortSignal): Promise<AccessAnswer>;
  snapshot(kind: ResourceKind, signal: AbortSignal): Promise<ResourceSnapshot>;
}

/** The error of questions without a cluster (spec kubewarden.md 7.6). */
export const NO_CLIENT = "kube::Client was not initialized properly";

const refuse = () => Promise.reject(new PublicError(NO_CLIENT));

/** Stands in for a missing cluster: every question fails, so that nothing is allowed by mistake. */
export const NO_CLUSTER: KubernetesReader = {
  get: refuse,
  list: refuse,
  texts: refuse,
  canI: refuse,
  snapshot: refuse,
};
