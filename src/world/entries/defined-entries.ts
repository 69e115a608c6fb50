/** Entries defined by GlobalContextEntries: objects of a cluster, and answers of servers (spec kyverno.md 4.5). */
import { withDoubles } from "../../data/doubles.js";
import { quote } from "../../data/go/quote.js";
import type { ApiResource } from "../../kubernetes/client/discovery.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { ANSWER_KEPT_MS, UNWATCHED_KIND_KEPT_MS } from "../../kubernetes/client/limits.js";
import { apiVersionOf } from "../../kubernetes/names.js";
import { type JsonObject, nameOf } from "../../kubernetes/object.js";
import { NO_CLIENT } from "../../kubernetes/reader.js";
import { andThen, type Eventual } from "../eventual.js";
import { LookUps } from "../look-ups.js";
import type { ObjectSource } from "../objects/object-source.js";
import { type Lookup, LookupFailure, lookupFailureOf } from "../resources/resource-source.js";
import { type CallParts, EntryCalls } from "./entry-calls.js";
import { type EntryDefinition, type EntryObjects, entryDefinition } from "./entry-definition.js";
import type { EntrySource } from "./entry-source.js";
import { plain } from "./query.js";

/** The sources of entries. */
export interface EntryParts extends CallParts {
  readonly cluster?: Pick<Cluster, "http" | "discovery" | "stores" | "signal">;
}

/** Most objects of a projection: concurrent requests wait while one is computed, some 50 ms of the processor for so many. */
export const MAX_PROJECTED_OBJECTS = 20_000;

/** Keeps the data of entries: objects by watches, answers until they are to be read again. */
export class EntryKeeper {
  readonly #cluster: EntryParts["cluster"];
  readonly #calls: EntryCalls;
  readonly #resources: LookUps<ApiResource>;
  /** Results of projections, kept as long as their objects. */
  readonly #projected = new WeakMap<object, Map<string, Lookup<unknown>>>();
  /** Objects in the form of queries. */
  readonly #plain = new WeakMap<JsonObject, JsonObject>();

  constructor(parts: EntryParts) {
    this.#cluster = parts.cluster;
    this.#calls = new EntryCalls(parts);
    this.#resources = new LookUps(parts.now);
  }

  /** See {@link EntrySource}. */
  get(entry: EntryDefinition, projection: string): Eventual<Lookup<unknown>> {
    for (const query of entry.projections.values()) {
      if (query instanceof LookupFailure) return new LookupFailure(`failed to parse jmespath query: ${query.message}`);
    }
    const { source } = entry;
    if (source instanceof LookupFailure) return source;
    return source.kind === "call"
      ? this.#calls.get(entry, source, projection)
      : this.#objects(entry, source, projection);
  }

  #objects(entry: EntryDefinition, source: EntryObjects, projection: string): Eventual<Lookup<unknown>> {
    const cluster = this.#cluster;
    if (cluster === undefined) return new LookupFailure(NO_CLIENT);
    const { resource, namespace } = source;
    const named = `${apiVersionOf(resource)}/${resource.resource}`;
    const found = this.#resources.ask(
      named,
      () => cluster.discovery.findResource(resource),
      // Discovery decides how long its answers are used.
      () => UNWATCHED_KIND_KEPT_MS,
    );
    return andThen(found, (known): Eventual<Lookup<unknown>> => {
      if (known instanceof LookupFailure) return known;
      if (known === undefined) return new LookupFailure(`failed to sync cache for ${named}: there is no such resource`);
      const store = cluster.stores.of(known, { namespace: known.namespaced ? namespace : "" });
      const problem = store.problem();
      if (problem !== undefined) return lookupFailureOf(problem);
      if (store.items?.isRead === true) return this.#part(entry, store.items.all(), projection);
      return store.all().then((all) => this.#part(entry, all, projection), lookupFailureOf);
    });
  }

  #part({ key, projections }: EntryDefinition, objects: readonly JsonObject[], projection: string): Lookup<unknown> {
    if (projection === "") return objects;
    const query = projections.get(projection);
    if (query === undefined || query instanceof LookupFailure) {
      return new LookupFailure(`projection ${quote(projection, false)} not found`);
    }
    if (objects.length > MAX_PROJECTED_OBJECTS) {
      return new LookupFailure(`the entry has more than ${MAX_PROJECTED_OBJECTS} objects, too many for a projection`);
    }
    const known = this.#projected.get(objects) ?? new Map<string, Lookup<unknown>>();
    this.#projected.set(objects, known);
    const name = JSON.stringify([key, projection]);
    if (!known.has(name)) known.set(name, projected(query(objects.map((object) => this.#plainOf(object)))));
    return known.get(name);
  }

  /** An object in the form of queries. Most objects are the same after an update: only new ones are converted. */
  #plainOf(object: JsonObject): unknown {
    const known = this.#plain.get(object);
    if (known !== undefined) return known;
    const made = plain(object) as JsonObject;
    this.#plain.set(object, made);
    return made;
  }
}

/** The result of a query. Members of objects are integers; a result that is a number was counted, and Go's JMESPath counts in doubles. */
const projected = (result: unknown): Lookup<unknown> => (typeof result === "number" ? withDoubles(result) : result);

/** Entries beside a policy; others are looked up in the next source. */
export class WrittenEntries implements EntrySource {
  readonly #entries: ReadonlyMap<string, EntryDefinition>;
  readonly #keeper: EntryKeeper;
  readonly #behind: EntrySource;

  /** @param objects GlobalContextEntries */
  constructor(objects: readonly JsonObject[], keeper: EntryKeeper, behind: EntrySource) {
    this.#entries = new Map(objects.map((object) => [nameOf(object), entryDefinition(object)]));
    this.#keeper = keeper;
    this.#behind = behind;
  }

  get(name: string, projection: string): Eventual<Lookup<unknown>> {
    const entry = this.#entries.get(name);
    return entry === undefined ? this.#behind.get(name, projection) : this.#keeper.get(entry, projection);
  }
}

/** The API version of entries in a cluster. */
const VERSION = { group: "kyverno.io", version: "v2beta1" };
const PLACE = { apiVersion: apiVersionOf(VERSION), resource: "globalcontextentries", namespace: "" };
/** Most entries of a cluster that are kept: more than any has. */
export const MAX_DEFINITIONS = 1_000;
/** Most characters of their names and texts: names come from requests, also unknown ones. */
const MAX_DEFINITIONS_BYTES = 4 * 1024 * 1024;

/** The parts of a cluster's client that are needed. */
type Served = Pick<Cluster["discovery"], "findResource">;

/** The entries of a cluster, where Kyverno's resources are installed; a missing one is absent. */
export class ClusterEntries implements EntrySource {
  readonly #objects: Pick<ObjectSource, "get">;
  readonly #discovery: Served;
  readonly #keeper: EntryKeeper;
  readonly #definitions: LookUps<EntryDefinition>;

  /** @param now monotonic milliseconds */
  constructor(
    objects: Pick<ObjectSource, "get">,
    { discovery }: { readonly discovery: Served },
    keeper: EntryKeeper,
    now: () => number,
  ) {
    this.#objects = objects;
    this.#discovery = discovery;
    this.#keeper = keeper;
    this.#definitions = new LookUps(now, {
      max: MAX_DEFINITIONS,
      room: { bytes: MAX_DEFINITIONS_BYTES, sizeOf: ({ key }) => key.length },
    });
  }

  get(name: string, projection: string): Eventual<Lookup<unknown>> {
    const definition = this.#definitions.ask(
      name,
      () => this.#read(name),
      () => ANSWER_KEPT_MS,
    );
    return andThen(definition, (entry) =>
      entry === undefined || entry instanceof LookupFailure ? entry : this.#keeper.get(entry, projection),
    );
  }

  async #read(name: string): Promise<EntryDefinition | undefined> {
    const object = await this.#objects.get(PLACE, name);
    if (object instanceof LookupFailure) throw new Unreadable(object);
    if (object !== undefined) return entryDefinition(object);
    // The same answer is given where entries are not served at all: then which ones exist is not known.
    const { resource } = PLACE;
    if ((await this.#discovery.findResource({ ...VERSION, resource })) !== undefined) return undefined;
    throw new Unreadable(new LookupFailure(`the cluster has no ${resource} in ${PLACE.apiVersion}`));
  }
}

/** Carries a failure through a promise. */
class Unreadable extends Error {
  readonly shown: string;

  constructor({ message, detail }: LookupFailure) {
    super(detail ?? message);
    this.shown = message;
  }
}
