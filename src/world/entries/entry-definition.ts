/** GlobalContextEntry: the kept data, and its source (spec kyverno.md 4.5). */
import { parseGoDuration } from "../../data/go/duration.js";
import type { GroupVersionResource } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import { LookupFailure } from "../resources/resource-source.js";
import { compileQuery, type Query } from "./query.js";

/** Objects of a resource. */
export interface EntryObjects {
  readonly kind: "objects";
  readonly resource: GroupVersionResource;
  /** `""`: all. */
  readonly namespace: string;
}

/** The answer of a server. */
export interface EntryCall {
  readonly kind: "call";
  readonly method: "GET" | "POST";
  /** The body of a POST. */
  readonly data: JsonObject;
  /** A path of the API server, or the address of another server. */
  readonly target:
    | { readonly path: string }
    | { readonly url: string; readonly ca: string; readonly headers: Readonly<Record<string, string>> };
  /** Milliseconds after which it is read again. */
  readonly refresh: number;
  /** Most tries before it is an error. */
  readonly tries: number;
}

/** An entry. */
export interface EntryDefinition {
  readonly name: string;
  /** Identifies this state of the entry. */
  readonly key: string;
  readonly source: EntryObjects | EntryCall | LookupFailure;
  readonly projections: ReadonlyMap<string, Query | LookupFailure>;
}

/** Default of `refreshInterval` (spec kyverno.md 4.5). */
const REFRESH_MS = 600_000;
/** Shortest time between two calls, whatever an entry says: one call per request would be too often for a server. */
const MIN_REFRESH_MS = 1_000;
/** Default of `retryLimit`, and its maximum: each further try takes five times as long. */
const RETRY_LIMIT = 3;
const MAX_RETRY_LIMIT = 6;
const NANOS_PER_MS = 1_000_000n;

/** Reads an entry. Its mistakes become failures when it is used. */
export function entryDefinition(object: JsonObject): EntryDefinition {
  const spec = member(object, "spec");
  const projections = new Map<string, Query | LookupFailure>();
  for (const projection of listOf(member(spec, "projections"))) {
    projections.set(text(projection, "name"), compileQuery(text(projection, "jmesPath")));
  }
  const name = nameOf(object);
  return { name, key: JSON.stringify([name, spec]), source: sourceOf(spec), projections };
}

function sourceOf(spec: unknown): EntryDefinition["source"] {
  const wanted = member(spec, "kubernetesResource");
  if (isObject(wanted)) {
    const resource = {
      group: text(wanted, "group"),
      version: text(wanted, "version"),
      resource: text(wanted, "resource"),
    };
    return { kind: "objects", resource, namespace: text(wanted, "namespace") };
  }
  const call = member(spec, "apiCall");
  const target = targetOf(call);
  if (target === undefined) return new LookupFailure("the entry has neither kubernetesResource nor apiCall");
  const method = text(call, "method") || "GET";
  if (method !== "GET" && method !== "POST") return new LookupFailure(`invalid request type ${method}`);
  const data = listOf(member(call, "data")).map((each) => [text(each, "key"), member(each, "value") ?? null] as const);
  const limit = member(call, "retryLimit");
  const tries = typeof limit === "number" && limit > 0 ? Math.min(limit, MAX_RETRY_LIMIT) : RETRY_LIMIT;
  return { kind: "call", method, data: Object.fromEntries(data), target, refresh: refreshOf(call), tries };
}

function targetOf(call: unknown): EntryCall["target"] | undefined {
  const path = text(call, "urlPath");
  if (path !== "") return { path };
  const service = member(call, "service");
  if (!isObject(service)) return undefined;
  const headers = listOf(member(service, "headers")).map((each) => [text(each, "key"), text(each, "value")] as const);
  return { url: text(service, "url"), ca: text(service, "caBundle"), headers: Object.fromEntries(headers) };
}

function refreshOf(call: unknown): number {
  const written = text(call, "refreshInterval");
  const parsed = parseGoDuration(written);
  return parsed.ok ? Math.max(MIN_REFRESH_MS, Number(parsed.nanos / NANOS_PER_MS)) : REFRESH_MS;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
