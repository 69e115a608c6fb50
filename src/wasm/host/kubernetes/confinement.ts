/**
 * Guests of policies that are confined to a namespace read the objects in it, and nothing else of a cluster. Wider questions are refused, not
 * narrowed: the guest would take a part for the whole.
 */
import { PublicError } from "../../../data/public-text.js";
import { namespaceOf } from "../../../kubernetes/object.js";
import type { ResourceSnapshot } from "../../../kubernetes/reader.js";
import type { Caller } from "../host.js";

const refusal = (namespace: string): string =>
  `the policy is confined to the namespace "${namespace}": it may ask for objects in it only, and name it`;

/** The reason why a caller may not read a namespace (or, without one, all namespaces and cluster-scoped objects); `undefined` when it may. */
export function gateNamespace({ namespace: own }: Caller, asked: unknown): string | undefined {
  return own === undefined || asked === own ? undefined : refusal(own);
}

/**
 * The object, for a caller that may read it: a cluster-scoped object is found whatever namespace is named.
 * @throws PublicError
 */
export function ofNamespace<T>({ namespace: own }: Caller, object: T): T {
  if (own === undefined || namespaceOf(object) === own) return object;
  throw new PublicError(refusal(own));
}

/** Snapshots for confined policies (disposable: one for each policy). An unchanged list stays the same object. */
export class ConfinedSnapshots {
  readonly #namespace: string;
  readonly #kept = new WeakMap<readonly unknown[], readonly unknown[]>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /**
   * The resources in the namespace.
   * @throws PublicError for cluster-scoped kinds
   */
  snapshots(all: readonly ResourceSnapshot[]): ResourceSnapshot[] {
    return all.map((snapshot) => {
      const { namespaced, items, kind } = snapshot;
      if (!namespaced)
        throw new PublicError(`${refusal(this.#namespace)}, and ${kind.apiVersion}/${kind.kind} are in none`);
      let own = this.#kept.get(items);
      if (own === undefined) {
        own = items.filter((item) => namespaceOf(item) === this.#namespace);
        this.#kept.set(items, own);
      }
      return { ...snapshot, items: own };
    });
  }
}
