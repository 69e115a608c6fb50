/** Keeps a cluster's webhook configurations as policies demand them: the leader writes, every replica announces the paths that it answers. */
import { createHash } from "node:crypto";
import type { Clock } from "../../data/clock.js";
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import { isRefusal } from "../../kubernetes/client/object-pages.js";
import { retryWait } from "../../kubernetes/client/retries.js";
import type { Logger } from "../../telemetry/logger.js";
import type { ClusterState } from "../cluster-state.js";
import type { ClusterPart } from "../part.js";
import { shortHash } from "../replicas/route-hash.js";
import { type Replicas, shownReplica } from "../replicas.js";
import type { BreakGlass } from "./break-glass.js";
import {
  type ConfigurationIdentity,
  keptObject,
  ownerReference,
  standingWebhooks,
  WEBHOOK_TYPES,
  type WebhookTarget,
  type WebhookType,
  webhookObject,
} from "./configuration.js";
import type { DerivedWebhooks } from "./derive.js";
import type { DerivedWebhook, WebhookProblem } from "./derived-webhook.js";
import { Disputes } from "./disputes.js";
import { KnownPaths } from "./known-paths.js";
import { Refusals } from "./refusals.js";
import { rollout } from "./rollout.js";
import type { ConfigurationStore } from "./store.js";
import { dividedBy, type Intended, type KnownWebhook, tryAlone, writeConfigurations } from "./write.js";

/** Interval of checking configurations, even without a reported change. */
const LOOK_AGAIN_MS = 300_000;

/** The key of a message that is logged once, until it works again. */
const FAILED = "failed";
const UNCERTIFIED = "uncertified";
const DISPUTED = "disputed";
const UNREAD = "unread";

/** Most names of replicas in a message. */
const MOST_NAMES = 5;

/** The result for the webhooks. */
export interface WebhookReport {
  /** Ids of policies that now get exactly the requests that they define. */
  readonly asked: ReadonlySet<string>;
  /** Why others do not, or not quite. */
  readonly problems: readonly WebhookProblem[];
  /** Why there is no webhook, so that the policies in `asked` would get them only later; absent: there are. */
  readonly withdrawn?: string;
}

/** The options of a keeper. */
export interface KeeperOptions {
  readonly store: ConfigurationStore;
  readonly replicas: Pick<Replicas, "live" | "changed">;
  /** The webhooks of a state. */
  readonly derive: (state: ClusterState) => DerivedWebhooks;
  /** The server's address; its authorities come from `caBundle`. */
  readonly target: Omit<WebhookTarget, "caBundle">;
  /** PEM; `undefined`: there is no certificate yet. */
  readonly caBundle: () => string | undefined;
  readonly identity: Omit<ConfigurationIdentity, "owner">;
  readonly glass?: Pick<BreakGlass, "isKnown" | "inForce">;
  /** The ClusterRole with which configurations are deleted. */
  readonly ownerRole: string;
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Whether the API server has just come back: it may refuse what it allows a moment later. */
  readonly settling?: () => boolean;
  /** Called by the leader after each check. */
  readonly report?: (report: WebhookReport) => void;
}

/** Keeps webhook configurations. */
export class WebhookKeeper implements ClusterPart {
  readonly #options: KeeperOptions;
  readonly #stopping = new AbortController();
  readonly #forgetReplicas: () => void;
  readonly #disputes: Disputes;
  #derived: DerivedWebhooks | undefined;
  /** Resources whose policies are not known. */
  #unread: readonly string[] = [];
  /** Policies by their paths: of webhooks that are wanted, or exist. */
  readonly #paths = new KnownPaths();
  readonly #refusals: Refusals;
  #leading: AbortSignal | undefined;
  #interrupting = new AbortController();
  #ownerUid: string | undefined;
  /** PEM that all existing webhooks carry; undefined while that is not known. */
  #carried: string | undefined;
  /** The keys of messages that still hold: they are not logged again. */
  readonly #said = new Set<string>();
  #problems: ReadonlySet<string> = new Set();
  /** The existing webhooks as they were read or written last. */
  #known: readonly KnownWebhook[] = [];
  #refused = 0;
  #failures = 0;
  #cancelTimer = (): void => {};
  #running: Promise<void> | undefined;
  #again = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    const { clock, random, logger } = options;
    this.#disputes = new Disputes(clock);
    this.#refusals = new Refusals({ clock, random, logger, due: () => this.look() });
    this.#forgetReplicas = options.replicas.changed(() => this.look());
  }

  served(state: ClusterState): void {
    const derived = this.#options.derive(state);
    this.#derived = derived;
    this.#unread = state.unread;
    this.#paths.remember(derived.webhooks);
    this.look();
  }

  lead(signal: AbortSignal): void {
    this.#leading = signal;
    // Others' writes are known after a check.
    this.#carried = undefined;
    this.#known = [];
    this.#failures = 0;
    this.#refusals.keepOnly([]);
    const failed = (error: unknown): void =>
      this.#say(
        "watch",
        `webhook configurations cannot be watched, and are looked at every five minutes: ${reasonOf(error)}`,
      );
    const both = AbortSignal.any([signal, this.#stopping.signal]);
    this.#options.store.watch(both, () => this.#changedByOthers(), failed);
    this.look();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#forgetReplicas();
    this.#cancelTimer();
    this.#refusals.stop();
    await this.#running;
  }

  /** Must be called when something may have changed: policies, replicas, the certificate, or the configurations. Returns at once. */
  look(): void {
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    const leading = this.#leading;
    if (leading === undefined || leading.aborted || this.#stopping.signal.aborted || this.#derived === undefined)
      return;
    if (this.#options.glass?.isKnown === false) return;
    this.#cancelTimer();
    const signal = AbortSignal.any([leading, this.#stopping.signal, this.#interrupting.signal]);
    this.#again = false;
    this.#running = this.#keep(this.#derived, signal).then((wait) => {
      this.#running = undefined;
      if (this.#again && (signal.aborted || this.#failures === 0)) this.look();
      else if (!signal.aborted) this.#cancelTimer = this.#options.clock.after(wait, () => this.look());
    });
  }

  /** Must be called when break-glass begins, or ends: a check under way is given up, since it may take long. Returns at once. */
  interrupt(): void {
    this.#interrupting.abort();
    this.#interrupting = new AbortController();
    this.look();
  }

  #changedByOthers(): void {
    if (this.#disputes.pause === 0) this.look();
  }

  /**
   * Whether all existing webhooks trust these authorities, as far as the leader has seen.
   * @param authorities each a certificate in PEM, as in `caBundle`
   */
  trusts(authorities: readonly string[]): boolean {
    const carried = this.#carried;
    return carried !== undefined && authorities.every((pem) => carried.includes(pem));
  }

  /** The leader's result: the number of webhooks that the API server refuses, and whether it refuses to have them read or written at all. */
  get standing(): { readonly refused: number; readonly unwritable: boolean } {
    if (this.#leading === undefined || this.#leading.aborted) return { refused: 0, unwritable: false };
    return { refused: this.#refused, unwritable: this.#failures > 0 };
  }

  /** Checks and writes. @returns milliseconds until the next check; never rejects */
  async #keep(derived: DerivedWebhooks, signal: AbortSignal): Promise<number> {
    try {
      await this.#write(derived, signal);
      this.#failures = 0;
      this.#said.delete(FAILED);
      return this.#disputes.pause || LOOK_AGAIN_MS;
    } catch (error) {
      if (signal.aborted) return 0;
      // Some may have been written, and some not.
      this.#carried = undefined;
      this.#failures += 1;
      const { settling, logger, random, glass } = this.#options;
      const message = `webhook configurations cannot be kept: ${reasonOf(error)}`;
      if (isRefusal(error) && settling?.()) logger.info(message);
      else this.#say(FAILED, message);
      // Nothing can be said in a status while the API server does not answer.
      if (isRefusal(error) && !settling?.() && glass?.inForce === undefined)
        await this.#reportUnwritten(derived, reasonOf(error), signal);
      return retryWait(this.#failures, random);
    }
  }

  async #write(derived: DerivedWebhooks, signal: AbortSignal): Promise<void> {
    const { store, caBundle: bundle, logger, glass } = this.#options;
    const withdrawn = glass?.inForce;
    const caBundle = bundle();
    if (caBundle === undefined && withdrawn === undefined) {
      this.#say(UNCERTIFIED, "webhooks wait for a certificate: none is written yet");
      return;
    }
    this.#said.delete(UNCERTIFIED);
    const target = { ...this.#options.target, ...(caBundle !== undefined && { caBundle }) };
    const { found, standing } = await this.#find(signal);
    const desired = withdrawn === undefined ? this.#acceptable(derived, standing) : [];
    this.#refusals.keepOnly([...derived.webhooks, ...desired]);
    const { wanted, kept, waiting } = rollout({
      desired,
      standing: withdrawn === undefined ? standing : [],
      isServed: this.#isServed,
      membersOf: (path) => this.#paths.membersOf(path),
      // One that this process has known is gone; any other may be one that it never knew.
      isUnread: (path) => this.#unread.length > 0 && !this.#paths.has(path),
      isRefused: (webhook) => this.#refusals.why(webhook) !== undefined,
    });
    if (this.#unread.length > 0)
      this.#say(UNREAD, `webhooks whose policies are not known here stay: ${this.#unread.join(", ")} cannot be read`);
    else this.#said.delete(UNREAD);
    const made = (webhook: DerivedWebhook) => {
      const { type, name } = webhook;
      return { type, name, raw: webhookObject(webhook, target), webhook };
    };
    const intended: Intended[] = [
      ...wanted.map(made),
      ...kept.map(({ type, name, path, raw }) => ({ type, name, raw: keptObject(raw, path, target) })),
    ];
    const identity = await this.#identity(signal);
    const writing = { store, found, standing, intended, identity, signal };
    const { refused, changed, failure } = await writeConfigurations(writing);
    for (const refusal of refused) this.#refusals.refused(refusal);
    // An object with a refused part is decided again, without that part.
    if (refused.length > 0) return this.#write(derived, signal);
    // The others are written by now, and do not wait for these.
    const tried = this.#refusals.due(desired);
    for (const webhook of tried) {
      const refusal = await tryAlone(made(webhook), writing);
      if (refusal === undefined) this.#refusals.taken(webhook);
      else this.#refusals.refused(refusal);
    }
    if (failure !== undefined) throw failure;
    if (tried.length > 0) return this.#write(derived, signal);
    this.#carried = caBundle;
    this.#known = intended;
    this.#disputes.wrote(digest(JSON.stringify(intended)), changed > 0);
    if (this.#disputes.isOpen)
      this.#say(
        DISPUTED,
        "another client changes webhook configurations again and again: a second server with the same --policy-server-name, for example",
      );
    else this.#said.delete(DISPUTED);
    this.#paths.keepOnly([...derived.webhooks, ...standing]);
    if (changed > 0)
      logger.info("webhook configurations written", { webhooks: intended.length, waiting: waiting.length });
    this.#sayProblems(derived.problems);
    this.#refused = desired.filter((webhook) => this.#refusals.why(webhook) !== undefined).length;
    if (withdrawn === undefined) this.#report(derived, wanted, waiting);
    else this.#report(derived, derived.webhooks, [], { withdrawn });
  }

  async #find(signal: AbortSignal) {
    const list = async (type: WebhookType) => [type, await this.#options.store.list(type, signal)] as const;
    const found = new Map(await Promise.all(WEBHOOK_TYPES.map(list)));
    const standing = [...found].flatMap(([type, objects]) => objects.flatMap((each) => standingWebhooks(type, each)));
    this.#known = standing;
    return { found, standing };
  }

  /** Reports policies whose webhooks are not in the cluster as they should be, after a failure. Never rejects. */
  async #reportUnwritten(derived: DerivedWebhooks, failure: string, signal: AbortSignal): Promise<void> {
    const caBundle = this.#options.caBundle();
    if (caBundle === undefined) return;
    const target = { ...this.#options.target, caBundle };
    // Some may have been written; what can't be read is as it was known last.
    await this.#find(signal).catch(() => {});
    const { written, others } = dividedBy(this.#known, this.#acceptable(derived, this.#known), target);
    const text = `webhook configurations cannot be kept: ${failure}`;
    this.#report(derived, written, others, { failure: { text, reason: "WebhookNotWritable" } });
  }

  readonly #isServed = (path: string): boolean => {
    const { live } = this.#options.replicas;
    const digest = shortHash(path);
    return live.length > 0 && live.every(({ routes }) => routes.has(digest));
  };

  /** The webhooks that the API server accepts, as far as that is known. */
  #acceptable({ webhooks }: DerivedWebhooks, standing: readonly KnownWebhook[]): readonly DerivedWebhook[] {
    const found = new Map(standing.map(({ type, name, raw }) => [`${type} ${name}`, raw.matchConditions]));
    const stands = ({ type, name, matchConditions }: DerivedWebhook): boolean =>
      JSON.stringify(found.get(`${type} ${name}`)) === JSON.stringify(matchConditions);
    return webhooks.map((webhook) => this.#refusals.acceptable(webhook, stands));
  }

  /** @param why why all webhooks are withdrawn, or some are missing that wait for nothing else */
  #report(
    derived: DerivedWebhooks,
    wanted: readonly DerivedWebhook[],
    waiting: readonly DerivedWebhook[],
    { withdrawn, failure }: { readonly withdrawn?: string; readonly failure?: Omit<WebhookProblem, "id"> } = {},
  ): void {
    const { report } = this.#options;
    if (report === undefined) return;
    const why = (webhook: DerivedWebhook): Omit<WebhookProblem, "id"> => {
      const refusal = this.#refusals.why(webhook);
      if (refusal !== undefined)
        return { text: `the API server refuses its webhook: ${refusal}`, reason: "WebhookRefused" };
      if (failure !== undefined && this.#isServed(webhook.path)) return failure;
      return { text: `its webhook waits for ${this.#waitedFor(webhook.path)}` };
    };
    report({
      ...(withdrawn !== undefined && { withdrawn }),
      asked: new Set(wanted.flatMap(({ members }) => members)),
      problems: [
        ...derived.problems,
        ...waiting.flatMap((webhook) => webhook.members.map((id) => ({ id, ...why(webhook) }))),
      ],
    });
  }

  /** The replicas that do not answer a path yet, and the reasons. */
  #waitedFor(path: string): string {
    const digest = shortHash(path);
    const missing = this.#options.replicas.live.filter(({ routes }) => !routes.has(digest)).map(shownReplica);
    if (missing.length === 0) return "a replica that serves it";
    const more = missing.length > MOST_NAMES ? ` and ${missing.length - MOST_NAMES} more` : "";
    return `the replicas ${missing.slice(0, MOST_NAMES).join(", ")}${more}, which do not serve it yet`;
  }

  /** Logs why policies do not get the requests that they define: each reason once, as long as it holds. */
  #sayProblems(problems: readonly WebhookProblem[]): void {
    const texts = new Set<string>();
    for (const { id, text } of problems) {
      const key = `${id} ${text}`;
      texts.add(key);
      if (this.#problems.has(key)) continue;
      this.#options.logger.warn("a policy is not asked by webhooks as it is written", { policy_id: id, reason: text });
    }
    this.#problems = texts;
  }

  async #identity(signal: AbortSignal): Promise<ConfigurationIdentity> {
    const { identity, ownerRole, store } = this.#options;
    try {
      this.#ownerUid ??= await store.ownerUid(ownerRole, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#say(
        "owner",
        `webhook configurations have no owner, and stay when this server is uninstalled: ClusterRole '${ownerRole}' cannot be read: ${error.message}`,
      );
      return identity;
    }
    return { ...identity, owner: ownerReference(ownerRole, this.#ownerUid) };
  }

  /** Logs a problem, once until it is over. */
  #say(key: string, message: string): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#options.logger.warn(message);
  }
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
