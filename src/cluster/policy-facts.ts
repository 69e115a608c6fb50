/** The facts about each policy that the parts of an agent record, by the key of its document: its status is made from them. */
import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { MissingReason } from "./webhooks/derived-webhook.js";
import type { RuleAdvice } from "./webhooks/unasked.js";

/** The state of a policy's webhook: `none` where it has none, or that is not known; `withdrawn` by break-glass. */
export type WebhookFact = "there" | "missing" | "withdrawn" | "none";

/** The state of a version that is evaluated beside the active one. */
export interface ShadowFact {
  /** Text for people: its denials so far, and when it becomes active. */
  readonly message: string;
  /** `metadata.generation` of the version that decides meanwhile; absent: none. */
  readonly activeGeneration?: number;
}

/** The facts, and the callbacks for changes. */
export class PolicyFacts {
  readonly #reports = new Map<string, readonly LoadedPolicyReport[]>();
  /** `why`: the reason if one does not exist, for people. */
  readonly #webhooks = new Map<
    string,
    { readonly fact: WebhookFact; readonly why: string | undefined; readonly reason: MissingReason }
  >();
  readonly #advice = new Map<string, RuleAdvice>();
  readonly #refused = new Set<string>();
  readonly #shadows = new Map<string, ShadowFact>();
  readonly #calls = new Set<(key: string) => void>();

  /**
   * Calls back with the key of a policy whose facts have changed.
   * @returns removes the callback
   */
  changed(call: (key: string) => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  /** The reports of a document's policies from their last loading; several where one document makes several. */
  reports(key: string): readonly LoadedPolicyReport[] {
    return this.#reports.get(key) ?? [];
  }

  webhook(key: string): WebhookFact {
    return this.#webhooks.get(key)?.fact ?? "none";
  }

  /** Why a policy's webhook is missing; undefined: it is not, or that is not known. */
  webhookProblem(key: string): string | undefined {
    return this.#webhooks.get(key)?.why;
  }

  /** The reason of the condition `Active` while the webhook is missing. */
  webhookReason(key: string): MissingReason {
    return this.#webhooks.get(key)?.reason ?? "NoWebhook";
  }

  /** The advice about a policy's rules; undefined: there is none, or it is not known. */
  advice(key: string): RuleAdvice | undefined {
    return this.#advice.get(key);
  }

  /** Documents whose policies are not served, because others have their ids. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  shadow(key: string): ShadowFact | undefined {
    return this.#shadows.get(key);
  }

  /** Records reports of a loading. */
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
   * Records whether a policy's webhook exists.
   * @param why the reason if it does not, for people
   */
  setWebhook(key: string, fact: WebhookFact, why?: string, reason: MissingReason = "NoWebhook"): void {
    if (this.webhook(key) === fact && this.webhookProblem(key) === why && this.webhookReason(key) === reason) return;
    this.#webhooks.set(key, { fact, why, reason });
    this.#tell(key);
  }

  /** Records advice about a policy's rules; undefined: there is none. */
  setAdvice(key: string, advice: RuleAdvice | undefined): void {
    const before = this.#advice.get(key);
    if (before?.text === advice?.text && before?.isNeverAsked === advice?.isNeverAsked) return;
    if (advice === undefined) this.#advice.delete(key);
    else this.#advice.set(key, advice);
    this.#tell(key);
  }

  /** Records the state of a policy's shadow version; undefined: it has none. */
  setShadow(key: string, fact: ShadowFact | undefined): void {
    const before = this.#shadows.get(key);
    if (before?.message === fact?.message && before?.activeGeneration === fact?.activeGeneration) return;
    if (fact === undefined) this.#shadows.delete(key);
    else this.#shadows.set(key, fact);
    this.#tell(key);
  }

  /** Drops policies whose documents are gone. */
  keepOnly(keys: { has(key: string): boolean }): void {
    const all = [this.#reports, this.#webhooks, this.#advice, this.#refused, this.#shadows];
    for (const facts of all) for (const key of facts.keys()) if (!keys.has(key)) facts.delete(key);
  }

  #tell(key: string): void {
    for (const call of this.#calls) call(key);
  }
}
