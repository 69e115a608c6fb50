/** Limits the bytes of modules that a namespace's policies may have in use together. */
import { FetchError } from "../fetch/index.js";

/**
 * Modules of the largest size that a namespace may have in use at a time. Others of their size are compiled in each process for as long as a policy
 * of theirs is served.
 */
export const LARGEST_MODULES = 2;

/** A module, identified by its digest: one that several policies use counts once. */
export interface CountedModule {
  readonly digest: string;
  /** Size in bytes. */
  readonly size: number;
}

/** Counts the modules in use by namespace. */
export class NamespaceModules {
  readonly #inUse = new Map<string, Map<string, readonly CountedModule[]>>();

  /**
   * Counts a policy's modules, in place of those that it had before.
   * @param most bytes of one policy's modules
   * @returns removes them from the count
   * @throws FetchError when the namespace has too many bytes with them; another attempt may succeed later
   */
  use(namespace: string, policy: string, modules: readonly CountedModule[], most: number): () => void {
    const policies = this.#inUse.get(namespace) ?? new Map<string, readonly CountedModule[]>();
    const others = [...policies].filter(([id]) => id !== policy).flatMap(([, each]) => each);
    const sizes = new Map([...others, ...modules].map(({ digest, size }) => [digest, size]));
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (bytes > LARGEST_MODULES * most) {
      const message = `the modules of namespace ${namespace} would have ${bytes} bytes together, more than ${LARGEST_MODULES * most}`;
      throw new FetchError(message, { unanswered: true, shown: "its namespace has too many modules" });
    }
    this.#inUse.set(namespace, policies.set(policy, modules));
    return () => {
      if (policies.get(policy) !== modules) return;
      policies.delete(policy);
      if (policies.size === 0) this.#inUse.delete(namespace);
    };
  }
}
