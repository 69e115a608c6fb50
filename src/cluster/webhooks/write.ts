/** Writes configurations, with the fewest changes. */
import { ApiError } from "../../kubernetes/client/errors.js";
import { isObject, type JsonObject, member, nameOf } from "../../kubernetes/object.js";
import {
  type ConfigurationIdentity,
  configurationObject,
  firstName,
  place,
  type StandingWebhook,
  WEBHOOK_TYPES,
  type WebhookTarget,
  type WebhookType,
  webhookObject,
} from "./configuration.js";
import type { DerivedWebhook } from "./derived-webhook.js";
import { type Refusal, refusalOf, refusedAmong, type Suspect } from "./refused-among.js";
import { listOf } from "./rules.js";
import type { ConfigurationStore } from "./store.js";

/** A webhook as far as it is known without its place. */
export type KnownWebhook = Pick<StandingWebhook, "type" | "name" | "raw">;

/** A webhook that is to exist. */
export interface Intended extends Suspect {
  readonly type: WebhookType;
  readonly name: string;
}

/** The inputs of the writing. */
export interface Writing {
  readonly store: ConfigurationStore;
  /** The existing objects, by type. */
  readonly found: ReadonlyMap<WebhookType, readonly unknown[]>;
  readonly standing: readonly StandingWebhook[];
  readonly intended: readonly Intended[];
  readonly identity: ConfigurationIdentity;
  readonly signal: AbortSignal;
}

/** The result. */
export interface Written {
  /** Webhooks for which their object was refused. */
  readonly refused: readonly Refusal[];
  /** Number of objects written or removed. */
  readonly changed: number;
  /** Why some object could not be written, whatever its contents; absent: all could. */
  readonly failure?: unknown;
}

/** The present and the intended state of an object. */
interface Change {
  readonly type: WebhookType;
  readonly name: string;
  readonly live: unknown;
  readonly intended: readonly Intended[];
}

/**
 * Writes differences, and removes what is not wanted. Where webhooks move from one object to another, all are added before the first is removed. An object that
 * can't be written does not prevent others from being written.
 * @throws the store's errors, except for writing an object
 */
export async function writeConfigurations(writing: Writing): Promise<Written> {
  const { store, found, signal, identity } = writing;
  const changes = changesOf(writing).filter((change) => !isAsIntended(change, identity));
  const refused: Refusal[] = [];
  let changed = 0;
  let failure: unknown;
  const attempt = async (change: Change): Promise<void> => {
    try {
      refused.push(...(await write(change, writing)));
      changed += 1;
    } catch (error) {
      signal.throwIfAborted();
      failure ??= error;
    }
  };
  const coming = changes.length > 1 ? changes.filter(comes) : [];
  for (const change of coming) await attempt(withStanding(change));
  if (refused.length === 0) {
    for (const change of changes) {
      if (coming.includes(change) && !goes(change)) continue;
      // A webhook that is removed here may be one that could not be added elsewhere.
      if (failure === undefined || !goes(change)) await attempt(change);
    }
  }
  if (refused.length > 0 || failure !== undefined) return { refused, changed, failure };
  const wanted = new Set(changesOf(writing).map(({ type, name }) => `${type} ${name}`));
  for (const [type, objects] of found) {
    for (const object of objects) {
      if (wanted.has(`${type} ${nameOf(object)}`)) continue;
      await remove(store, type, nameOf(object), signal);
      changed += 1;
    }
  }
  return { refused, changed };
}

function changesOf({ found, standing, intended, identity }: Writing): readonly Change[] {
  return WEBHOOK_TYPES.flatMap((type) => {
    const where = new Map(standing.filter((each) => each.type === type).map(({ name, object }) => [name, object]));
    const objects = new Map((found.get(type) ?? []).map((object) => [nameOf(object), object]));
    const placed = place(
      intended.filter((each) => each.type === type),
      where,
      identity.base,
    );
    return [...placed].map(([name, own]) => ({ type, name, live: objects.get(name), intended: own }));
  });
}

const namesOf = (live: unknown): readonly string[] =>
  listOf(member(live, "webhooks")).map((webhook) => String(member(webhook, "name")));

/** Whether a webhook is added to the object. */
function comes({ live, intended }: Change): boolean {
  const names = new Set(namesOf(live));
  return intended.some(({ name }) => !names.has(name));
}

/** Whether an existing webhook is removed from the object. */
function goes({ live, intended }: Change): boolean {
  const own = new Set(intended.map(({ name }) => name));
  return namesOf(live).some((name) => !own.has(name));
}

function withStanding(change: Change): Change {
  const own = new Set(change.intended.map(({ name }) => name));
  const others = listOf(member(change.live, "webhooks")).filter(isObject);
  const kept = others.filter(({ name }) => !own.has(String(name)));
  const more = kept.map((raw) => ({ type: change.type, name: String(raw.name), raw }));
  return { ...change, intended: [...change.intended, ...more] };
}

/** Applies a change; where another writer's values are in the way, overwrites them. */
async function write(change: Change, { store, identity, signal }: Writing): Promise<readonly Refusal[]> {
  const { type, name, intended } = change;
  const objectOf = (raws: readonly JsonObject[]): JsonObject => configurationObject(type, name, raws, identity);
  const object = objectOf(intended.map(({ raw }) => raw));
  try {
    const live = await store.apply(type, object, signal);
    if (!isAsIntended({ ...change, live }, identity)) await store.overwrite(type, object, signal);
    return [];
  } catch (error) {
    signal.throwIfAborted();
    const refused = await refusedAmong(error, intended, (raws) => store.attempt(type, objectOf(raws), signal));
    if (refused.length === 0) throw error;
    return refused;
  }
}

/**
 * Sends the API server a derived webhook by itself as a dry run.
 * @returns the refusal; undefined: it is accepted
 * @throws the error of an object without any webhook: that is not about this one
 */
export async function tryAlone(
  { type, name, raw, webhook }: Intended & { readonly webhook: DerivedWebhook },
  { store, standing, identity, signal }: Writing,
): Promise<Refusal | undefined> {
  const stands = standing.find((each) => each.type === type && each.name === name);
  const attempt = (raws: readonly JsonObject[]): Promise<unknown> =>
    store.attempt(type, configurationObject(type, stands?.object ?? firstName(identity.base), raws, identity), signal);
  const why = await attempt([raw]);
  if (why === undefined) return undefined;
  const always = await attempt([]);
  if (always !== undefined) throw always;
  return refusalOf(webhook, why);
}

async function remove(store: ConfigurationStore, type: WebhookType, name: string, signal: AbortSignal): Promise<void> {
  try {
    await store.remove(type, name, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}

/** Whether an object is in its intended state; others' additions do not matter, except to its webhooks. */
function isAsIntended({ live, intended }: Change, { labels, owner }: ConfigurationIdentity): boolean {
  const metadata = member(live, "metadata");
  const written = member(metadata, "labels");
  const owners = listOf(member(metadata, "ownerReferences"));
  return (
    Object.entries(labels).every(([key, value]) => member(written, key) === value) &&
    (owner === undefined || owners.some((each) => member(each, "uid") === owner.uid)) &&
    canonical(member(live, "webhooks") ?? []) === canonical(intended.map(({ raw }) => raw))
  );
}

/**
 * Divides webhooks by whether they are in the cluster as they are wanted.
 * @param known those that are in the cluster
 */
export function dividedBy(
  known: readonly KnownWebhook[],
  wanted: readonly DerivedWebhook[],
  target: WebhookTarget,
): Readonly<Record<"written" | "others", readonly DerivedWebhook[]>> {
  const found = new Map(known.map(({ type, name, raw }) => [`${type} ${name}`, canonical(raw)]));
  const isWritten = (webhook: DerivedWebhook): boolean =>
    found.get(`${webhook.type} ${webhook.name}`) === canonical(webhookObject(webhook, target));
  const written = wanted.filter(isWritten);
  const names = new Set(written);
  return { written, others: wanted.filter((webhook) => !names.has(webhook)) };
}

/** A value as text, with keys in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}
