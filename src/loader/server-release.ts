/** The release of a cluster's API servers: policies of admissionregistration.k8s.io are evaluated as those do. */
import { isKubernetesVersion, KUBERNETES_VERSIONS, type KubernetesVersion } from "../cel/index.js";
import type { Clock } from "../data/clock.js";

/** Milliseconds between two questions. */
const ASK_EVERY_MS = 60_000;
/** Milliseconds for which a release counts after it was last seen: API servers of several are upgraded one by one. */
const COUNTS_FOR_MS = 600_000;
/** Milliseconds that loading waits for the first answer. */
const FIRST_WAIT_MS = 2_000;

/** The means by which a release is found. */
export interface ServerReleaseOptions {
  /** Asks an API server for `/version`. */
  readonly ask: () => Promise<unknown>;
  readonly clock: Clock;
}

/**
 * The release, asked for every minute. While API servers of several are seen, the lowest counts: what it does not know yet is stored by none. Until one has
 * answered there is none.
 */
export class ServerRelease {
  readonly #options: ServerReleaseOptions;
  readonly #seen = new Map<KubernetesVersion, number>();
  #first: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #closed = false;
  /** Called when the release is another one. */
  readonly listeners: (() => void)[] = [];

  constructor(options: ServerReleaseOptions) {
    this.#options = options;
  }

  /** The lowest that was seen lately. */
  get current(): KubernetesVersion | undefined {
    return KUBERNETES_VERSIONS.find((version) => this.#seen.has(version));
  }

  /** Begins to ask, and waits for the first answer; not for long, and never rejects. */
  begin(): Promise<void> {
    this.#first ??= Promise.race([
      this.#ask(),
      new Promise<void>((resolve) => this.#options.clock.after(FIRST_WAIT_MS, resolve)),
    ]);
    return this.#first;
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  async #ask(): Promise<void> {
    const before = this.current;
    try {
      const version = releaseOf(await this.#options.ask());
      const now = this.#options.clock.now();
      if (version !== undefined) this.#seen.set(version, now);
      for (const [each, at] of this.#seen) if (at + COUNTS_FOR_MS < now) this.#seen.delete(each);
    } catch {
      // Versions that were seen still count, and the connection's own troubles are told elsewhere.
    }
    if (this.#closed) return;
    if (this.current !== before) for (const changed of this.listeners) changed();
    this.#cancel = this.#options.clock.after(ASK_EVERY_MS, () => void this.#ask());
  }
}

/** The release that an answer names; one that is too new to be known counts as the newest known. */
function releaseOf(answer: unknown): KubernetesVersion | undefined {
  const { major, minor } = (answer ?? {}) as { readonly major?: unknown; readonly minor?: unknown };
  const digits = /^\d+/.exec(String(minor))?.[0];
  const version = `${String(major)}.${digits}`;
  if (isKubernetesVersion(version)) return version;
  const newest = KUBERNETES_VERSIONS.at(-1) as KubernetesVersion;
  return major === "1" && Number(digits) > Number(newest.slice(2)) ? newest : undefined;
}
