/** The webhooks that the API server refuses, or would refuse, and when they are tried again: it may be another version by then. */
import type { Clock } from "../../data/clock.js";
import { Retries } from "../../kubernetes/client/retries.js";
import { formatFieldError } from "../../kubernetes/field-error.js";
import type { Logger } from "../../telemetry/logger.js";
import type { DerivedWebhook } from "./derived-webhook.js";
import { CONDITIONS, isDoubtful, mistakesIn } from "./mistakes.js";
import type { Refusal } from "./refused-among.js";

/** Webhooks that are tried at a time, each by itself: new policies wait for a second at most. */
const MOST_AT_A_TIME = 50;
/** Most characters of a refusal: it may repeat the whole webhook. */
const MOST_CHARACTERS = 500;

/** The reason of one that is due for the first time. */
const UNTRIED = "it has not looked at the match conditions yet";

/** The options. */
export interface RefusalsOptions {
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called when some are to be tried again. */
  readonly due: () => void;
}

/** The known results of derived webhooks, separate for each version of one. */
export class Refusals {
  readonly #logger: Logger;
  readonly #retries: Retries;
  readonly #prints = new WeakMap<DerivedWebhook, string>();
  /** Why a webhook is not written; empty: it is written. */
  readonly #whys = new Map<string, string>();
  /** Webhooks that are to be tried by themselves. */
  readonly #due = new Set<string>();
  /** Webhooks that are written with the least conditions only. */
  readonly #relaxed = new Set<string>();

  constructor({ clock, random, logger, due }: RefusalsOptions) {
    this.#logger = logger;
    this.#retries = new Retries(clock, random, (print) => {
      this.#due.add(print);
      due();
    });
  }

  /**
   * A webhook in the form to be written, as far as that is known. The first time it is checked for mistakes, and one that only the API server can judge becomes due.
   * @param stands whether a webhook's conditions exist in the cluster: the API server has accepted them
   */
  acceptable(webhook: DerivedWebhook, stands: (webhook: DerivedWebhook) => boolean): DerivedWebhook {
    const print = this.#printOf(webhook);
    if (!this.#whys.has(print)) this.#look(webhook, print, stands);
    if (!this.#relaxed.has(print)) return webhook;
    const { leastConditions = [], ...rest } = webhook;
    return this.acceptable({ ...rest, matchConditions: leastConditions }, stands);
  }

  /** Why a webhook is not written; undefined: it is written. */
  why(webhook: DerivedWebhook): string | undefined {
    return this.#whys.get(this.#printOf(webhook)) || undefined;
  }

  /** The webhooks that are to be tried by themselves now. */
  due(webhooks: readonly DerivedWebhook[]): readonly DerivedWebhook[] {
    if (this.#due.size === 0) return [];
    return webhooks.filter((webhook) => this.#due.has(this.#printOf(webhook))).slice(0, MOST_AT_A_TIME);
  }

  /** Must be called when the API server accepts it. */
  taken(webhook: DerivedWebhook): void {
    const print = this.#printOf(webhook);
    this.#due.delete(print);
    this.#whys.set(print, "");
    this.#retries.forget(print);
  }

  /** Must be called when the API server refuses it. Conditions that policies check again are left to them: the webhook covers more. */
  refused({ webhook, text, ofConditions }: Refusal): void {
    const print = this.#printOf(webhook);
    this.#due.delete(print);
    this.#refuse(webhook, print, text, ofConditions);
    if (!this.#relaxed.has(print)) this.#retries.failed(print);
  }

  /** Drops all but these. */
  keepOnly(webhooks: readonly DerivedWebhook[]): void {
    const prints = new Set(webhooks.map((webhook) => this.#printOf(webhook)));
    for (const print of this.#whys.keys()) {
      if (prints.has(print)) continue;
      this.#whys.delete(print);
      this.#due.delete(print);
      this.#relaxed.delete(print);
      this.#retries.forget(print);
    }
  }

  /** Ends all waits. */
  stop(): void {
    this.#retries.stop();
  }

  #look(webhook: DerivedWebhook, print: string, stands: (webhook: DerivedWebhook) => boolean): void {
    this.#whys.set(print, "");
    const mistakes = mistakesIn(webhook);
    if (mistakes.length > 0) {
      const ofConditions = mistakes.every(({ path: [at] }) => at === CONDITIONS);
      this.#refuse(webhook, print, mistakes.map(formatFieldError).join("; "), ofConditions);
    } else if (isDoubtful(webhook) && !stands(webhook)) {
      this.#whys.set(print, UNTRIED);
      this.#due.add(print);
    }
  }

  #refuse(webhook: DerivedWebhook, print: string, said: string, ofConditions: boolean): void {
    const reason = said.length > MOST_CHARACTERS ? `${said.slice(0, MOST_CHARACTERS)}…` : said;
    const isRelaxed = ofConditions && webhook.leastConditions !== undefined;
    if (isRelaxed) this.#relaxed.add(print);
    // The same reason is not reported again.
    if (this.#whys.get(print) === reason) return;
    this.#whys.set(print, reason);
    const fields = { webhook: webhook.name, policies: webhook.members.join(", "), reason };
    if (isRelaxed)
      this.#logger.warn(
        "the API server refuses match conditions of a webhook: its policies look at them alone",
        fields,
      );
    else
      this.#logger.error(
        "the API server refuses a webhook: its policies are not asked as they are written now",
        fields,
      );
  }

  /** The key of a webhook's version. The same webhooks are checked again and again. */
  #printOf(webhook: DerivedWebhook): string {
    const print = this.#prints.get(webhook) ?? JSON.stringify(webhook);
    this.#prints.set(webhook, print);
    return print;
  }
}
