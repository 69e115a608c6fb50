/** Makes the objects of webhooks that an API server reads. */
import { compareNames } from "../../kubernetes/names.js";
import { type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import type { DerivedWebhook } from "./derived-webhook.js";
import { listOf } from "./rules.js";

/** The two kinds of webhooks. */
export type WebhookType = DerivedWebhook["type"];

export const WEBHOOK_TYPES: readonly WebhookType[] = ["mutating", "validating"];

const KINDS: Readonly<Record<WebhookType, string>> = {
  mutating: "MutatingWebhookConfiguration",
  validating: "ValidatingWebhookConfiguration",
};

/** The address of the server that webhooks ask. */
export interface WebhookTarget {
  /** The Service in the cluster. */
  readonly service?: { readonly namespace: string; readonly name: string };
  /** `https://host:port` in place of a Service. */
  readonly url?: string;
  /** PEM: the authorities of the server's certificate; absent: those that the API server trusts by itself. */
  readonly caBundle?: string;
}

/** The names and labels of our objects. */
export interface ConfigurationIdentity {
  /** The base of names: `<base>-1`, `<base>-2` and so on. */
  readonly base: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The owner, with which they are deleted; absent: none. */
  readonly owner?: JsonObject;
}

const SERVICE_PORT = 443;

/** A webhook as it stands in a configuration: with all defaults written, so that others' changes can be seen. */
export function webhookObject(webhook: DerivedWebhook, target: WebhookTarget): JsonObject {
  const { matchConditions } = webhook;
  return {
    name: webhook.name,
    clientConfig: clientConfig(webhook.path, target),
    rules: webhook.rules,
    failurePolicy: webhook.failurePolicy,
    matchPolicy: webhook.matchPolicy,
    namespaceSelector: webhook.namespaceSelector,
    objectSelector: webhook.objectSelector,
    sideEffects: webhook.sideEffects,
    timeoutSeconds: webhook.timeoutSeconds,
    admissionReviewVersions: ["v1"],
    ...(webhook.type === "mutating" && { reinvocationPolicy: webhook.reinvocation ?? "Never" }),
    ...(matchConditions.length > 0 && { matchConditions }),
  };
}

function clientConfig(path: string, { service, url, caBundle }: WebhookTarget): JsonObject {
  return {
    ...(url === undefined
      ? { service: { ...service, path, port: SERVICE_PORT } }
      : { url: `${url.replace(/\/+$/, "")}${path}` }),
    ...(caBundle !== undefined && { caBundle: Buffer.from(caBundle).toString("base64") }),
  };
}

/** An existing webhook, in the form that it should have if it stays. */
export const keptObject = (raw: JsonObject, path: string, target: WebhookTarget): JsonObject => ({
  ...raw,
  clientConfig: clientConfig(path, target),
});

/** A configuration with its webhooks. */
export function configurationObject(
  type: WebhookType,
  name: string,
  webhooks: readonly JsonObject[],
  { labels, owner }: ConfigurationIdentity,
): JsonObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: KINDS[type],
    metadata: { name, labels, ...(owner !== undefined && { ownerReferences: [owner] }) },
    webhooks,
  };
}

/** A webhook in an existing configuration. */
export interface StandingWebhook {
  readonly type: WebhookType;
  /** The configuration in which it stands. */
  readonly object: string;
  readonly name: string;
  /** The path of its server; empty where it can't be read. */
  readonly path: string;
  readonly raw: JsonObject;
}

/** The webhooks of a configuration. */
export function standingWebhooks(type: WebhookType, configuration: unknown): readonly StandingWebhook[] {
  const object = nameOf(configuration);
  return listOf(member(configuration, "webhooks")).map((raw) => ({
    type,
    object,
    name: text(raw, "name"),
    path: pathOf(member(raw, "clientConfig")),
    raw: raw as JsonObject,
  }));
}

function pathOf(config: unknown): string {
  const path = text(member(config, "service"), "path");
  if (path !== "") return path;
  return /^https:\/\/[^/]*(\/.*)$/.exec(text(config, "url"))?.[1] ?? "";
}

/** The name of an object. */
const objectName = (base: string, number: number): string => `${base}-${number}`;
/** The name of the first object. */
export const firstName = (base: string): string => objectName(base, 1);

/** Most webhooks of one configuration. */
export const MOST_WEBHOOKS = 500;
/** Most bytes of one configuration: the API server stores at most 1.5 MiB, and the rest of the object needs some. */
const MOST_BYTES = 1_300_000;
/** Bytes that are stored beside each webhook, and beside each of its conditions and their names: its managed fields, for either way of writing. */
const BYTES_BESIDE = 1_000;
const BYTES_BESIDE_CONDITION = 200;
/**
 * Most bytes of all expressions of one configuration: the API server compiles them all whenever one changes, which takes some seconds for these, and it stops
 * after half a minute.
 */
const MOST_OBJECT_EXPRESSION_BYTES = 256 * 1024;

/** A webhook with its place in a configuration. */
interface Placed {
  readonly name: string;
  readonly raw: JsonObject;
}

/** A configuration that is being filled. */
interface Filling<T> {
  readonly webhooks: T[];
  bytes: number;
  expressionBytes: number;
}

/** The room that a webhook takes in a configuration. */
function roomOf(raw: JsonObject): { readonly bytes: number; readonly expressionBytes: number } {
  const conditions = listOf(raw.matchConditions);
  const sum = (key: string): number =>
    conditions.reduce((all: number, each) => all + Buffer.byteLength(text(each, key)), 0);
  // Names of conditions are part of the managed fields, twice.
  const beside = BYTES_BESIDE + 2 * sum("name") + BYTES_BESIDE_CONDITION * conditions.length;
  return { bytes: Buffer.byteLength(JSON.stringify(raw)) + beside, expressionBytes: sum("expression") };
}

/**
 * Assigns webhooks of one type to configurations: each stays where it stands, so that removing one moves no other; the others go where there is room.
 * @param standing names of objects by names of webhooks
 * @returns the webhooks of each object, by its name; each list in order of name
 */
export function place<T extends Placed>(
  webhooks: readonly T[],
  standing: ReadonlyMap<string, string>,
  base: string,
): ReadonlyMap<string, readonly T[]> {
  const objects = new Map<string, Filling<T>>();
  const fits = (object: string, webhook: T): boolean => {
    const { bytes, expressionBytes } = roomOf(webhook.raw);
    const filling = objects.get(object) ?? { webhooks: [], bytes: 0, expressionBytes: 0 };
    const isFull =
      filling.webhooks.length >= MOST_WEBHOOKS ||
      filling.bytes + bytes > MOST_BYTES ||
      filling.expressionBytes + expressionBytes > MOST_OBJECT_EXPRESSION_BYTES;
    if (filling.webhooks.length > 0 && isFull) return false;
    filling.webhooks.push(webhook);
    filling.bytes += bytes;
    filling.expressionBytes += expressionBytes;
    objects.set(object, filling);
    return true;
  };
  const homeless = webhooks.filter((webhook) => {
    const object = standing.get(webhook.name);
    const isOurs = object?.startsWith(`${base}-`) === true && /^\d+$/.test(object.slice(base.length + 1));
    return !isOurs || !fits(object, webhook);
  });
  let number = 1;
  for (const webhook of homeless) while (!fits(objectName(base, number), webhook)) number += 1;
  return new Map(
    Array.from(objects, ([object, { webhooks: own }]) => [object, own.sort((a, b) => compareNames(a.name, b.name))]),
  );
}
