/** Writes configurations, as little as makes them what they are to be. */
import { ApiError } from "../../kubernetes/client/errors.js";
import { isObject, type JsonObject, member, nameOf } from "../../kubernetes/object.js";
import {
  type ConfigurationIdentity,
  configurationObject,
  place,
  type StandingWebhook,
  WEBHOOK_TYPES,
  type WebhookType,
} from "./configuration.js";
import type { DerivedWebhook } from "./derived-webhook.js";
import { listOf } from "./rules.js";
import type { ConfigurationStore } from "./store.js";

/** A webhook that is to stand. */
export interface Intended {
  readonly type: WebhookType;
  readonly name: string;
  readonly raw: JsonObject;
  /** What it was made of; absent for one that stays as it was found. */
  readonly webhook?: DerivedWebhook;
}

/** What the API server does not take. */
export interface Refusal {
  readonly webhook: DerivedWebhook;
  /** In its words. */
  readonly text: string;
}

/** What is to be written. */
export interface Writing {
  readonly store: ConfigurationStore;
  /** What stands, by type. */
  readonly found: ReadonlyMap<WebhookType, readonly unknown[]>;
  readonly standing: readonly StandingWebhook[];
  readonly intended: readonly Intended[];
  readonly identity: ConfigurationIdentity;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface Written {
  /** Webhooks that keep theirs from being written. */
  readonly refused: readonly Refusal[];
  /** How many objects were written or removed. */
  readonly changed: number;
}

/** An object as it stands and as it is to be. */
interface Change {
  readonly type: WebhookType;
  readonly name: string;
  readonly live: unknown;
  readonly intended: readonly Intended[];
}

/**
 * Writes what differs, and removes what nobody wants. Where webhooks go from one object to another, all that come are there before the first goes.
 * @throws what the store throws, but for a refusal of single webhooks
 */
export async function writeConfigurations(writing: Writing): Promise<Written> {
  const { store, found, signal, identity } = writing;
  const changes = changesOf(writing).filter((change) => !isAsIntended(change, identity));
  const refused: Refusal[] = [];
  if (changes.length > 1) {
    for (const change of changes.filter(comes)) refused.push(...(await write(withStanding(change), writing)));
    if (refused.length > 0) return { refused, changed: changes.length };
  }
  for (const change of changes) {
    if (changes.length === 1 || !comes(change) || goes(change)) refused.push(...(await write(change, writing)));
  }
  if (refused.length > 0) return { refused, changed: changes.length };
  let removed = 0;
  const wanted = new Set(changesOf(writing).map(({ type, name }) => `${type} ${name}`));
  for (const [type, objects] of found) {
    for (const object of objects) {
      if (wanted.has(`${type} ${nameOf(object)}`)) continue;
      await remove(store, type, nameOf(object), signal);
      removed += 1;
    }
  }
  return { refused, changed: changes.length + removed };
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

/** Whether a webhook is to stand where it does not yet. */
function comes({ live, intended }: Change): boolean {
  const names = new Set(namesOf(live));
  return intended.some(({ name }) => !names.has(name));
}

/** Whether one that stands is not to stay there. */
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

/** Applies; where somebody else's words stand in between, overwrites them. */
async function write(change: Change, { store, identity, signal }: Writing): Promise<readonly Refusal[]> {
  const { type, name, intended } = change;
  const raws = intended.map(({ raw }) => raw);
  const object = configurationObject(type, name, raws, identity);
  try {
    const live = await store.apply(type, object, signal);
    if (!isAsIntended({ ...change, live }, identity)) await store.overwrite(type, object, signal);
    return [];
  } catch (error) {
    const refused = refusals(error, intended);
    if (refused.length === 0) throw error;
    return refused;
  }
}

async function remove(store: ConfigurationStore, type: WebhookType, name: string, signal: AbortSignal): Promise<void> {
  try {
    await store.remove(type, name, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}

const UNPROCESSABLE = 422;

/** The webhooks that a refusal names: `webhooks[3].rules[0].resources: Invalid value: …`. */
function refusals(error: unknown, intended: readonly Intended[]): readonly Refusal[] {
  if (!(error instanceof ApiError) || error.status !== UNPROCESSABLE) return [];
  const found = new Map<number, string>();
  for (const { index, text } of problemsIn(error.message)) {
    const known = found.get(index);
    found.set(index, known === undefined ? text : `${known}; ${text}`);
  }
  return [...found].flatMap(([index, text]) => {
    const webhook = intended[index]?.webhook;
    return webhook === undefined ? [] : [{ webhook, text }];
  });
}

/** Each mistake that a message names begins with its place. */
function problemsIn(message: string): readonly { readonly index: number; readonly text: string }[] {
  return message.split(/(?=\bwebhooks\[\d+\])/).flatMap((part) => {
    const [, index, text] = /^webhooks\[(\d+)\]\.?(.*)$/s.exec(part) ?? [];
    return index === undefined || text === undefined
      ? []
      : [{ index: Number(index), text: shortened(text.replace(/[,\]\s]+$/, "")) }];
  });
}

/** The most characters of a refusal: it may repeat the whole of what it is about. */
const MOST_CHARACTERS = 500;

const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

/** Whether an object is as it is to be; what others have said of it beside does not matter, but for its webhooks. */
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

/** A value as text, with keys in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}
