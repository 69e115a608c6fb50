/** Writes the results of policies into their status: on change only, by the leader only. */

import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { parseKey } from "../../config/from-cluster/policy-ids.js";
import { parseJson } from "../../data/json.js";
import { ApiError, isForbidden, isNotFound, reasonOf } from "../../kubernetes/client/errors.js";
import { statusPath } from "../../kubernetes/client/paths.js";
import { Retries } from "../../kubernetes/client/retries.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import type { ClusterState } from "../cluster-state.js";
import type { ClusterPart, PartContext } from "../part.js";
import { loadedVersion } from "../replicas/route-hash.js";
import { shownReplica } from "../replicas.js";
import { WATCHED_KINDS } from "../sources/watched-kinds.js";
import { standingOf } from "./conditions.js";
import { formOf, type StatusForm, statusToWrite } from "./forms.js";

// Limits of writing statuses. Times are milliseconds.

/** Interval between the beginnings of two writes: ten in a second are polite, and a thousand policies take less than two minutes. */
const WRITE_EVERY_MS = 100;
/** Writes under way at a time: a slow API server gets no more. */
const MAX_WRITES = 4;
/** How long changes are gathered: replicas load a change one soon after the other, and one write covers all. */
const GATHER_MS = 500;
/** How long the same status is not written again to a policy whose status another writer changes. */
const SAME_AGAIN_MS = 60_000;
/** Policies that are compared at a time before others have their turn. */
const COMPARED_AT_A_TIME = 100;

/** A field manager of its own: fields that it no longer writes are removed. */
const FIELD_MANAGER = "policy-server-status";

/** The last written status. */
interface Written {
  readonly text: string;
  readonly at: number;
}

/** The parts of a document that are needed here. */
interface Head {
  readonly apiVersion: string;
  /** `spec.mode`, which only some kinds have. */
  readonly mode: string;
}

/** Keeps the statuses of all policies. */
export class PolicyStatuses implements ClusterPart {
  readonly #context: PartContext;
  readonly #retries: Retries;
  readonly #written = new Map<string, Written>();
  /** Keys to compare, and those of them to write. */
  readonly #toCompare = new Set<string>();
  readonly #toWrite = new Set<string>();
  /** Keys of documents that have just changed: their authors are waiting, even when a thousand others are to be written after a start. */
  readonly #first = new Set<string>();
  #documents: ClusterState["documents"] | undefined;
  readonly #heads = new WeakMap<ClusterDocument, Head>();
  readonly #refused = new Set<string>();
  readonly #forget: readonly (() => void)[];
  #leading: AbortSignal | undefined;
  #gathering: (() => void) | undefined;
  #pacing: (() => void) | undefined;
  #writing = 0;
  #idle: () => void = () => {};

  constructor(context: PartContext) {
    this.#context = context;
    const { clock, random, facts, replicas, cluster } = context;
    this.#retries = new Retries(clock, random, (key) => this.#add([key]), cluster.http.outage);
    this.#forget = [facts.changed((key) => this.#add([key])), replicas.changed(() => this.#addAll())];
  }

  served({ documents }: ClusterState): void {
    for (const key of this.#written.keys()) {
      if (documents.has(key)) continue;
      this.#written.delete(key);
      this.#retries.forget(key);
    }
    for (const [key, document] of documents) {
      if (this.#documents !== undefined && this.#documents.get(key) !== document) this.#first.add(key);
    }
    for (const key of this.#first) if (!documents.has(key)) this.#first.delete(key);
    this.#documents = documents;
    this.#addAll();
  }

  statusesChanged(keys: readonly string[]): void {
    this.#add(keys);
  }

  lead(signal: AbortSignal): void {
    this.#leading = signal;
    this.#written.clear();
    signal.addEventListener("abort", () => this.#rest(), { once: true });
    this.#addAllAgain(signal);
  }

  stop(): Promise<void> {
    for (const forget of this.#forget) forget();
    this.#leading = undefined;
    this.#rest();
    this.#retries.stop();
    return new Promise((resolve) => {
      this.#idle = resolve;
      if (this.#writing === 0) resolve();
    });
  }

  get #leads(): boolean {
    return this.#leading !== undefined && !this.#leading.aborted;
  }

  #rest(): void {
    this.#toCompare.clear();
    this.#toWrite.clear();
    this.#gathering?.();
    this.#gathering = undefined;
    this.#pacing?.();
    this.#pacing = undefined;
  }

  /** Compares all policies now and at intervals: other writers may have changed a status that was not to be overwritten at once. */
  #addAllAgain(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#addAll();
    this.#context.clock.after(SAME_AGAIN_MS, () => this.#addAllAgain(signal));
  }

  #addAll(): void {
    this.#add(this.#context.state()?.documents.keys() ?? []);
  }

  #add(keys: Iterable<string>): void {
    if (!this.#leads) return;
    for (const key of keys) if (this.#formOf(key) !== undefined) this.#toCompare.add(key);
    if (this.#toCompare.size > 0) this.#gatherFor(GATHER_MS);
  }

  #gatherFor(milliseconds: number): void {
    this.#gathering ??= this.#context.clock.after(milliseconds, () => {
      this.#gathering = undefined;
      this.#compare();
    });
  }

  /** Finds the statuses to be written, some policies at a time. */
  #compare(): void {
    let compared = 0;
    for (const key of this.#toCompare) {
      if (compared++ === COMPARED_AT_A_TIME) {
        this.#gatherFor(0);
        break;
      }
      this.#toCompare.delete(key);
      if (this.#patchFor(key) === undefined) this.#toWrite.delete(key);
      else this.#toWrite.add(key);
    }
    this.#pace();
  }

  #pace(): void {
    if (this.#pacing !== undefined || this.#toWrite.size === 0 || !this.#leads) return;
    this.#pacing = this.#context.clock.after(WRITE_EVERY_MS, () => {
      this.#pacing = undefined;
      this.#next();
      this.#pace();
    });
  }

  #next(): void {
    const key = this.#nextKey();
    if (key === undefined || this.#writing >= MAX_WRITES || this.#leading === undefined) return;
    this.#toWrite.delete(key);
    this.#first.delete(key);
    const patch = this.#patchFor(key);
    if (patch === undefined) return;
    this.#writing++;
    void this.#write(key, patch, this.#leading).finally(() => {
      this.#writing--;
      if (this.#writing === 0) this.#idle();
    });
  }

  #nextKey(): string | undefined {
    for (const key of this.#first) if (this.#toWrite.has(key)) return key;
    const [key] = this.#toWrite;
    return key;
  }

  #formOf(key: string): StatusForm | undefined {
    const { group, kind } = parseKey(key);
    return formOf(group, kind, this.#context.settings.enforceAdmissionPolicies);
  }

  /** The patch to apply; undefined when there is none. */
  #patchFor(key: string): JsonObject | undefined {
    const { state, facts, replicas, statusOf, clock } = this.#context;
    const document = state()?.documents.get(key);
    const form = this.#formOf(key);
    if (document === undefined || form === undefined) return undefined;
    const version = loadedVersion(document);
    // A replica without an announcement is starting, and not asked: it does not change the state of policies.
    const missing = replicas.live.filter(({ facts: { loaded } }) => loaded !== undefined && !loaded.includes(version));
    const standing = standingOf(document, facts, missing.map(shownReplica));
    const { apiVersion, mode } = this.#headOf(document);
    const now = new Date(clock.wall()).toISOString().replace(/\.\d+Z$/, "Z");
    const status = statusToWrite(form, form.status(standing, mode), statusOf(key), now);
    if (status === undefined) return undefined;
    const { kind, namespace, name } = parseKey(key);
    const metadata = { name, ...(namespace !== "" && { namespace }) };
    const written = this.#written.get(key);
    const same = written !== undefined && written.text === withoutTimes(status);
    if (same && clock.now() - written.at < SAME_AGAIN_MS) return undefined;
    return { apiVersion, kind, metadata, status };
  }

  #headOf(document: ClusterDocument): Head {
    const known = this.#heads.get(document);
    if (known !== undefined) return known;
    const object = parseJson(document.text);
    const head = { apiVersion: text(object, "apiVersion"), mode: text(member(object, "spec"), "mode") };
    this.#heads.set(document, head);
    return head;
  }

  /** Writes a status. Never rejects. */
  async #write(key: string, patch: JsonObject, signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#context;
    const { group, kind, namespace, name } = parseKey(key);
    const plural = WATCHED_KINDS.find((each) => each.group === group && each.kind === kind)?.plural ?? "";
    const version = parseApiVersion(text(patch, "apiVersion"))?.version ?? "";
    const path = statusPath({ group, version, plural }, namespace, name);
    try {
      this.#written.set(key, { text: withoutTimes(member(patch, "status")), at: clock.now() });
      await cluster.http.apply(path, patch, { fieldManager: FIELD_MANAGER }, signal);
      this.#retries.forget(key);
      this.#refused.delete(plural);
    } catch (error) {
      this.#written.delete(key);
      if (signal.aborted) return;
      // It has been deleted: the watch will report it soon.
      if (isNotFound(error) && this.#context.state()?.documents.has(key) !== true) return;
      this.#failed(key, plural, error);
    }
  }

  #failed(key: string, plural: string, error: unknown): void {
    const { log, cluster } = this.#context;
    const wait = Math.round(this.#retries.failed(key));
    const reason = reasonOf(error);
    // The API server refuses one as it refuses all of the kind: the account may not write it, or the definition differs.
    const passing = isForbidden(error) && cluster.http.outage.settling;
    if (passing || !(error instanceof ApiError) || error.status >= 500)
      log.debug("the status of a policy could not be written", { policy: key, reason, retry_ms: wait });
    else if (!this.#refused.has(plural)) {
      this.#refused.add(plural);
      const message = `the status of policies ${isForbidden(error) ? "may" : "can"} not be written`;
      log.error(message, { resource: plural, policy: key, reason });
    }
  }
}

/** A status as text, without the times of its conditions. */
const withoutTimes = (status: unknown): string =>
  JSON.stringify(status, (key, value: unknown) => (key === "lastTransitionTime" ? undefined : value));
