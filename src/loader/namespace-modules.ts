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

/** The modules of one version of a policy. */
interface InUse {
  readonly namespace: string;
  readonly policy: string;
  readonly modules: readonly CountedModule[];
}

/** Counts the modules in use by namespace. */
export class NamespaceModules {
  readonly #inUse = new Set<InUse>();

  /**
   * Counts the modules of a policy's version. Its other versions, which it may be about to replace, count against other policies only.
   * @param most bytes of one policy's modules
   * @returns removes them from the count
   * @throws FetchError when the namespace has too many bytes with them; another attempt may succeed later
   */
  use(namespace: string, policy: string, modules: readonly CountedModule[], most: number): () => void {
    const others = [...this.#inUse].filter((each) => each.namespace === namespace && each.policy !== policy);
    const counted = [...others.flatMap((each) => each.modules), ...modules];
    const sizes = new Map(counted.map(({ digest, size }) => [digest, size]));
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (bytes > LARGEST_MODULES * most) {
      const message = `the modules of namespace ${namespace} would have ${bytes} bytes together, more than ${LARGEST_MODULES * most}`;
      throw new FetchError(message, { unanswered: true, shown: "its namespace has too many modules" });
    }
    const inUse = { namespace, policy, modules };
    this.#inUse.add(inUse);
    return () => {
      this.#inUse.delete(inUse);
    };
  }
}
