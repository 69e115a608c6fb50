/** The release of a cluster's API servers: policies of admissionregistration.k8s.io are evaluated as those do. */
import type { Clock } from "../../data/clock.js";

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
  /** Times by minor versions. */
  readonly #seen = new Map<number, number>();
  #first: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #closed = false;
  /** Called when the release is another one. */
  readonly listeners: (() => void)[] = [];

  constructor(options: ServerReleaseOptions) {
    this.#options = options;
  }

  /** The lowest that was seen lately, such as `1.38`. */
  get current(): string | undefined {
    return this.#seen.size === 0 ? undefined : `1.${Math.min(...this.#seen.keys())}`;
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
      const minor = minorOf(await this.#options.ask());
      const now = this.#options.clock.now();
      if (minor !== undefined) this.#seen.set(minor, now);
      for (const [each, at] of this.#seen) if (at + COUNTS_FOR_MS < now) this.#seen.delete(each);
    } catch {
      // Versions that were seen still count, and the connection's own troubles are told elsewhere.
    }
    if (this.#closed) return;
    if (this.current !== before) for (const changed of this.listeners) changed();
    this.#cancel = this.#options.clock.after(ASK_EVERY_MS, () => void this.#ask());
  }
}

/** The minor version that an answer of `/version` names, without the mark of a build. */
function minorOf(answer: unknown): number | undefined {
  const { major, minor } = (answer ?? {}) as { readonly major?: unknown; readonly minor?: unknown };
  const digits = /^\d{1,3}/.exec(String(minor))?.[0];
  return major === "1" && digits !== undefined ? Number(digits) : undefined;
}
