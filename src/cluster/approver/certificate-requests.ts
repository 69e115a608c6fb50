import { jsonWeight } from "../../data/json-weight.js";
import { trimmed } from "../../kubernetes/client/stored-items.js";
import type { ListTarget } from "../../kubernetes/client/watched-list.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import { decisionIn } from "./condition.js";
import { MAX_COUNTED, MAX_HELD_BYTES, MAX_NAMESPACES } from "./limits.js";

/** The API version of CertificateRequests. */
export const API_VERSION = "cert-manager.io/v1";
/** Their kind. */
export const KIND = "CertificateRequest";

/** A request without a decision. */
export interface UndecidedRequest {
  readonly namespace: string;
  readonly name: string;
  /** Its `resourceVersion`. */
  readonly version: string;
  /** The request; absent when too many would have to be kept. */
  readonly object?: JsonObject;
  /** Its size, about, where it is kept. */
  readonly bytes: number;
}

/** The values of the metric's label `status` (spec certificate-request-policy.md 7.5). */
export type ApprovalStatus = "approved" | "denied" | "unmatched";

/** The number of requests of a namespace with a status. */
export interface ApprovalCount {
  readonly namespace: string;
  readonly status: ApprovalStatus;
  readonly count: number;
}

/** Namespaces beyond {@link MAX_NAMESPACES} are counted together under this name. */
export const OTHER_NAMESPACES = "other";

/** The CertificateRequests of a cluster: undecided ones are kept, the others are only counted for the metric. */
export class CertificateRequests implements ListTarget {
  readonly #maxHeldBytes: number;
  readonly #maxCounted: number;
  readonly #undecided = new Map<string, UndecidedRequest>();
  readonly #decided = new Map<string, "approved" | "denied">();
  readonly #counts = new Map<string, Record<ApprovalStatus, number>>();
  #heldBytes = 0;

  constructor({ maxHeldBytes = MAX_HELD_BYTES, maxCounted = MAX_COUNTED } = {}) {
    this.#maxHeldBytes = maxHeldBytes;
    this.#maxCounted = maxCounted;
  }

  /** The request of a key, when it exists and is undecided. */
  get(key: string): UndecidedRequest | undefined {
    return this.#undecided.get(key);
  }

  /** All undecided requests by their keys. */
  undecided(): Iterable<[string, UndecidedRequest]> {
    return this.#undecided;
  }

  put(object: unknown): void {
    if (!isObject(object)) return;
    const key = keyOf(object);
    this.#remove(key);
    const namespace = namespaceOf(object);
    const decision = decisionIn(object);
    if (decision === undefined) {
      const kept = trimmed({ apiVersion: API_VERSION, kind: KIND, ...object });
      const room = this.#maxHeldBytes - this.#heldBytes;
      const bytes = jsonWeight(kept, room);
      const held = bytes <= room;
      const version = text(member(object, "metadata"), "resourceVersion");
      const known = { namespace, name: nameOf(object), version };
      this.#undecided.set(key, held ? { ...known, object: kept, bytes } : { ...known, bytes: 0 });
      if (held) this.#heldBytes += bytes;
      this.#count(namespace, "unmatched", 1);
    } else if (this.#decided.size < this.#maxCounted) {
      const status = decision === "Approved" ? "approved" : "denied";
      this.#decided.set(key, status);
      this.#count(namespace, status, 1);
    }
  }

  delete(object: unknown): void {
    if (isObject(object)) this.#remove(keyOf(object));
  }

  /** The counts for the metric: without combinations that have no request. */
  *counts(): Iterable<ApprovalCount> {
    for (const [namespace, counts] of this.#counts) {
      for (const status of ["approved", "denied", "unmatched"] as const) {
        if (counts[status] > 0) yield { namespace, status, count: counts[status] };
      }
    }
  }

  #remove(key: string): void {
    const undecided = this.#undecided.get(key);
    const namespace = key.slice(0, key.indexOf("/"));
    if (undecided !== undefined) {
      this.#undecided.delete(key);
      this.#heldBytes -= undecided.bytes;
      this.#count(namespace, "unmatched", -1);
    }
    const decided = this.#decided.get(key);
    if (decided !== undefined) {
      this.#decided.delete(key);
      this.#count(namespace, decided, -1);
    }
  }

  #count(namespace: string, status: ApprovalStatus, more: 1 | -1): void {
    const counts = this.#counts.get(namespace) ?? { approved: 0, denied: 0, unmatched: 0 };
    counts[status] += more;
    if (counts.approved + counts.denied + counts.unmatched === 0) this.#counts.delete(namespace);
    else this.#counts.set(namespace, counts);
  }
}

/** `<namespace>/<name>`. */
export const keyOf = (object: JsonObject): string => `${namespaceOf(object)}/${nameOf(object)}`;

/** The counts with as many namespaces as the metric may show; the others are added up under {@link OTHER_NAMESPACES}. */
export function boundedCounts(counts: Iterable<ApprovalCount>, max = MAX_NAMESPACES): ApprovalCount[] {
  const shown: ApprovalCount[] = [];
  const namespaces = new Set<string>();
  const rest: Record<ApprovalStatus, number> = { approved: 0, denied: 0, unmatched: 0 };
  for (const each of counts) {
    const own = each.namespace !== OTHER_NAMESPACES && (namespaces.has(each.namespace) || namespaces.size < max);
    if (own) {
      namespaces.add(each.namespace);
      shown.push(each);
    } else rest[each.status] += each.count;
  }
  for (const status of ["approved", "denied", "unmatched"] as const) {
    if (rest[status] > 0) shown.push({ namespace: OTHER_NAMESPACES, status, count: rest[status] });
  }
  return shown;
}
