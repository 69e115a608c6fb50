/** Events on policies about their denials, for users of kubectl: gathered, and only where they are wanted. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { parseKey } from "../../config/from-cluster/policy-ids.js";
import { counted } from "../../data/counted.js";
import { parseJson } from "../../data/json.js";
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import { collectionPath } from "../../kubernetes/client/paths.js";
import { type JsonObject, text } from "../../kubernetes/object.js";
import type { ClusterPart, PartContext } from "../part.js";
import { EVENTS, eventObject } from "./event.js";

// Limits of events about policies. Times are milliseconds.

/** Interval between two events on a policy. */
const EVENTS_EVERY_MS = 60_000;
/** Policies with an event per interval: those with the most denials. Events are for people, and the API server keeps them an hour. */
const MAX_EVENTS = 20;
/** How long no event is written after the account was refused. */
const REFUSED_MS = 300_000;
/** The namespace of events on objects without one. */
const DEFAULT_NAMESPACE = "default";

/** The denials of a policy since the last interval. */
interface Denied {
  count: number;
  /** The labels of the most frequent kind of denial. */
  example: readonly string[];
  exampleCount: number;
}

/** Writes events. Each replica reports its own denials. */
export class PolicyEvents implements ClusterPart {
  readonly #context: PartContext;
  readonly #stopping = new AbortController();
  /** Counts at the last interval. */
  #before: ReadonlyMap<string, number> = new Map();
  #refusedUntil = Number.NEGATIVE_INFINITY;
  #said = false;

  constructor(context: PartContext) {
    this.#context = context;
    this.#soon();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  #soon(): void {
    if (this.#stopping.signal.aborted) return;
    this.#context.clock.after(EVENTS_EVERY_MS, () => void this.#look().finally(() => this.#soon()));
  }

  async #look(): Promise<void> {
    const denied = await this.#denied();
    const documents = this.#documents();
    const most = [...denied].sort(([, a], [, b]) => b.count - a.count).slice(0, MAX_EVENTS);
    for (const [policy, what] of most) {
      const [id, mode] = parseJson(policy) as [string, "deny" | "monitor"];
      const document = documents.get(id);
      if (document !== undefined) await this.#write(document, mode === "monitor", what);
    }
  }

  /** The denials by id and mode of the policy. */
  async #denied(): Promise<Map<string, Denied>> {
    const now = new Map<string, number>();
    const denied = new Map<string, Denied>();
    for (const { policy, monitored, about, count } of await this.#context.metrics.rejections()) {
      const key = JSON.stringify([policy, monitored ? "monitor" : "deny"]);
      const series = `${key} ${about.join(" ")}`;
      now.set(series, count);
      const more = count - (this.#before.get(series) ?? 0);
      if (more <= 0) continue;
      const known = denied.get(key) ?? { count: 0, example: about, exampleCount: 0 };
      known.count += more;
      if (more > known.exampleCount) Object.assign(known, { example: about, exampleCount: more });
      denied.set(key, known);
    }
    this.#before = now;
    return denied;
  }

  /** Documents by the ids of their policies. */
  #documents(): ReadonlyMap<string, ClusterDocument> {
    const { state, facts } = this.#context;
    const documents = new Map<string, ClusterDocument>();
    for (const [key, document] of state()?.documents ?? [])
      for (const { id } of facts.reports(key)) documents.set(id, document);
    return documents;
  }

  /** Writes an event. Never rejects. */
  async #write(document: ClusterDocument, monitored: boolean, { count, example }: Denied): Promise<void> {
    const { cluster, clock, log } = this.#context;
    if (clock.now() < this.#refusedUntil) return;
    const did = monitored ? "would have denied" : "denied";
    const note = `${did} ${counted(count, "request")} in the last minute${exampleOf(example)}`;
    const event = this.#event(document, monitored ? "WouldDeny" : "Denied", note);
    try {
      const { signal } = this.#stopping;
      await cluster.http.create(collectionPath(EVENTS, namespaceFor(document)), event, { once: true }, signal);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const refused = error instanceof ApiError && (error.status === 403 || error.status === 404);
      if (refused) this.#refusedUntil = clock.now() + REFUSED_MS;
      if (refused && this.#said) return;
      this.#said ||= refused;
      log.log(refused ? "warn" : "debug", "events about policies cannot be written", { reason: reasonOf(error) });
    }
  }

  #event(document: ClusterDocument, reason: string, note: string): JsonObject {
    const { clock, settings } = this.#context;
    const { kind, namespace, name } = parseKey(document.key);
    const regarding = {
      apiVersion: text(parseJson(document.text), "apiVersion"),
      ...{ kind, name },
      ...(namespace !== "" && { namespace }),
      uid: document.uid,
      resourceVersion: document.resourceVersion,
    };
    const facts = { type: "Warning", action: "Evaluate", reason, regarding, note } as const;
    return eventObject(facts, namespaceFor(document), settings.replica, clock.wall());
  }
}

const namespaceFor = ({ key }: ClusterDocument): string => parseKey(key).namespace || DEFAULT_NAMESPACE;

/** Such as `, e.g. CREATE Pod in team`. */
function exampleOf([operation = "", kind = "", namespace = ""]: readonly string[]): string {
  const what = [operation, kind].filter((word) => word !== "").join(" ");
  if (what === "") return "";
  return `, e.g. ${what}${namespace === "" ? "" : ` in ${namespace}`}`;
}
