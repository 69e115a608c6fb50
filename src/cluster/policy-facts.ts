/** What the parts of an agent know of each policy, by the key of its document: its status is made of that. */
import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";

/** Of a policy's webhook: `none` where it has none, or nobody knows. */
export type WebhookFact = "there" | "missing" | "none";

/** Of a version that is evaluated beside the active one. */
export interface ShadowFact {
  /** For people: what it would have done, and when it becomes active. */
  readonly message: string;
  /** `metadata.generation` of the version that decides meanwhile; absent: none does. */
  readonly activeGeneration?: number;
}

/** Facts, and who is told that they have changed. */
export class PolicyFacts {
  readonly #reports = new Map<string, readonly LoadedPolicyReport[]>();
  readonly #webhooks = new Map<string, WebhookFact>();
  /** Why webhooks are missing, as far as it is known. */
  readonly #whys = new Map<string, string>();
  readonly #refused = new Set<string>();
  readonly #shadows = new Map<string, ShadowFact>();
  readonly #calls = new Set<(key: string) => void>();

  /**
   * Calls with the key of a policy of which something is known that was not before.
   * @returns takes it back
   */
  changed(call: (key: string) => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  /** What became of a document's policies when they were loaded last; several where one document makes several. */
  reports(key: string): readonly LoadedPolicyReport[] {
    return this.#reports.get(key) ?? [];
  }

  webhook(key: string): WebhookFact {
    return this.#webhooks.get(key) ?? "none";
  }

  /** Why a policy's webhook is missing; undefined: it is not, or nobody knows. */
  webhookProblem(key: string): string | undefined {
    return this.#whys.get(key);
  }

  /** Documents whose policies are not served, since others have their ids. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  shadow(key: string): ShadowFact | undefined {
    return this.#shadows.get(key);
  }

  /** Notes reports of what was loaded anew. */
  loaded(reports: readonly LoadedPolicyReport[]): void {
    const byKey = new Map<string, LoadedPolicyReport[]>();
    for (const report of reports) byKey.set(report.key, [...(byKey.get(report.key) ?? []), report]);
    for (const [key, own] of byKey) {
      this.#reports.set(key, own);
      if (own.some(({ state }) => state === "refused")) this.#refused.add(key);
      else this.#refused.delete(key);
      this.#tell(key);
    }
  }

  /**
   * Notes whether a policy's webhook is there.
   * @param why it is not, for people
   */
  setWebhook(key: string, fact: WebhookFact, why?: string): void {
    if (this.webhook(key) === fact && this.#whys.get(key) === why) return;
    this.#webhooks.set(key, fact);
    if (why === undefined) this.#whys.delete(key);
    else this.#whys.set(key, why);
    this.#tell(key);
  }

  /** Notes what a policy's shadow does; undefined: it has none. */
  setShadow(key: string, fact: ShadowFact | undefined): void {
    const before = this.#shadows.get(key);
    if (before?.message === fact?.message && before?.activeGeneration === fact?.activeGeneration) return;
    if (fact === undefined) this.#shadows.delete(key);
    else this.#shadows.set(key, fact);
    this.#tell(key);
  }

  /** Forgets policies whose documents are gone. */
  keepOnly(keys: { has(key: string): boolean }): void {
    for (const facts of [this.#reports, this.#webhooks, this.#whys, this.#refused, this.#shadows])
      for (const key of facts.keys()) if (!keys.has(key)) facts.delete(key);
  }

  #tell(key: string): void {
    for (const call of this.#calls) call(key);
  }
}
