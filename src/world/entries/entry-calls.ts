/** Entries that are answers of servers: asked when they are wanted, and again when they are too old (spec kyverno.md 4.5). */
import { setTimeout as delay } from "node:timers/promises";
import { withDoubles } from "../../data/doubles.js";
import { parseJson } from "../../data/json.js";
import { jsonWeight } from "../../data/json-weight.js";
import { type Shown, shownText, wholeText } from "../../data/public-text.js";
import { ApiError } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { goJson } from "../../kubernetes/field-error.js";
import { NO_CLIENT } from "../../kubernetes/reader.js";
import { andThen, type Eventual } from "../eventual.js";
import type { GuardedClient, HttpReply } from "../http/guarded-client.js";
import { HttpFailure } from "../http/http-failure.js";
import { MAX_BODY_BYTES } from "../http/limits.js";
import { LookUps } from "../look-ups.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import type { EntryCall, EntryDefinition } from "./entry-definition.js";

/** Entries whose answers are kept: more than any cluster has. */
export const MAX_ENTRIES = 100;
/** Bytes of memory for them. */
const MAX_ENTRIES_BYTES = 128 * 1024 * 1024;
/** Wait before the second try, and how much longer each further one is: as the reference's. */
const FIRST_WAIT_MS = 10;
const WAIT_FACTOR = 5;

/** An entry has no data. */
class EntryFailure extends Error implements Shown {
  override readonly name = "EntryFailure";

  constructor(
    readonly shown: string,
    cause?: unknown,
  ) {
    super(cause === undefined ? shown : `${shown}: ${wholeText(cause)}`);
  }
}

/** Whom calls are made to. */
export interface CallParts {
  /** Absent: there is none, and what needs one fails. */
  readonly cluster?: Pick<Cluster, "http" | "signal">;
  readonly client: Pick<GuardedClient, "request">;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The data of an entry: `""` for all, and results of projections by name. */
type Parts = ReadonlyMap<string, unknown>;

/** Keeps answers. */
export class EntryCalls {
  readonly #parts: CallParts;
  readonly #answers: LookUps<Parts>;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#answers = new LookUps(parts.now, {
      max: MAX_ENTRIES,
      room: { bytes: MAX_ENTRIES_BYTES, sizeOf: (answer) => jsonWeight([...answer.values()]) },
    });
  }

  /** As {@link import("./entry-source.js").EntrySource} does. */
  get(entry: EntryDefinition, call: EntryCall, projection: string): Eventual<Lookup<unknown>> {
    const kept = this.#answers.ask(
      entry.key,
      () => this.#answer(entry, call),
      () => call.refresh,
    );
    return andThen(kept, (parts) =>
      parts instanceof LookupFailure ? parts : (parts?.get(projection) ?? new LookupFailure("no data available")),
    );
  }

  async #answer({ projections }: EntryDefinition, call: EntryCall): Promise<Parts> {
    const data = await this.#tried(call);
    const parts = new Map<string, unknown>([["", data]]);
    for (const [name, query] of projections) {
      const result = query instanceof LookupFailure ? query : query(data);
      if (result instanceof LookupFailure) throw new EntryFailure(result.message);
      parts.set(name, withDoubles(result));
    }
    return parts;
  }

  async #tried(call: EntryCall): Promise<unknown> {
    for (let attempt = 1, wait = FIRST_WAIT_MS; ; attempt++, wait *= WAIT_FACTOR) {
      try {
        return withDoubles(
          "path" in call.target ? await this.#fromCluster(call, call.target.path) : await this.#fromServer(call),
        );
      } catch (error) {
        if (attempt >= call.tries) throw error;
        await delay(wait, undefined, { ref: false });
      }
    }
  }

  async #fromCluster({ method, data }: EntryCall, path: string): Promise<unknown> {
    const { cluster } = this.#parts;
    if (cluster === undefined) throw new EntryFailure(NO_CLIENT);
    const [pathname = "", query = ""] = path.split("?", 2);
    try {
      if (method === "POST") return await cluster.http.post(pathname, data, cluster.signal);
      const { value, bytes } = await cluster.http.get(
        pathname,
        Object.fromEntries(new URLSearchParams(query)),
        cluster.signal,
      );
      if (bytes > MAX_BODY_BYTES) throw new EntryFailure(TOO_LONG);
      return value;
    } catch (error) {
      const forbidden = error instanceof ApiError && (error.status === 401 || error.status === 403);
      const told = shownText(error, "the policy server could not ask the cluster");
      const reason = `${forbidden ? "permission denied: " : ""}${told}`;
      throw new EntryFailure(`failed to ${method} resource with raw url: ${path}: ${reason}`, error);
    }
  }

  async #fromServer({ method, data, target }: EntryCall): Promise<unknown> {
    if (!("url" in target)) throw new EntryFailure("missing service for APICall globalcontext");
    const { url, ca, headers } = target;
    const body = method === "POST" ? `${goJson(data)}\n` : undefined;
    let reply: HttpReply;
    try {
      reply = await this.#parts.client.request({ method, url, headers, body, ca });
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      const begun = error.message.startsWith(BEGUN);
      const reason = begun
        ? `failed to execute HTTP request for APICall globalcontext: ${error.message.slice(BEGUN.length)}`
        : `failed to validate URL for APICall globalcontext: ${error.message}`;
      throw new EntryFailure(reason, error.detail === undefined ? undefined : new Error(error.detail));
    }
    const { status } = reply;
    const text = reply.body.toString("utf8");
    if (status < 200 || status >= 300) throw new EntryFailure(`HTTP ${status}`, text.slice(0, MAX_TOLD_CHARACTERS));
    try {
      return parseJson(text);
    } catch (error) {
      throw new EntryFailure("the answer is no JSON", error);
    }
  }
}

const TOO_LONG = `response length must be less than max allowed response length of ${MAX_BODY_BYTES}`;
/** Of the text of an answer that refuses, for the log. */
const MAX_TOLD_CHARACTERS = 300;
/** What stands before failures of requests that were begun. */
const BEGUN = "request failed: ";
