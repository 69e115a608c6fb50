/** Entries that are answers of servers: read when they are wanted, and again when they are too old (spec kyverno.md 4.5). */
import { setTimeout as delay } from "node:timers/promises";
import { withDoubles } from "../../data/doubles.js";
import { parseJson } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { jsonWeight } from "../../data/json-weight.js";
import { type Shown, shownText, wholeText } from "../../data/public-text.js";
import { ApiError } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { goJson } from "../../kubernetes/field-error.js";
import { NO_CLIENT } from "../../kubernetes/reader.js";
import { andThen, type Eventual } from "../eventual.js";
import type { GuardedClient, HttpReply } from "../http/guarded-client.js";
import { HttpFailure } from "../http/http-failure.js";
import { trusted } from "../http/pem.js";
import { LookUps } from "../look-ups.js";
import { type Lookup, LookupFailure } from "../resources/resource-source.js";
import type { EntryCall, EntryDefinition } from "./entry-definition.js";
import { plain } from "./query.js";

/** Most entries whose answers are kept: more than any cluster has. */
export const MAX_ENTRIES = 100;
/** Most bytes of memory for them. */
const MAX_ENTRIES_BYTES = 128 * 1024 * 1024;
/**
 * Limits of an answer: those of the reference, parsed within some 200 ms at most. They are larger than for requests' own questions, because an operator
 * chooses the server, and requests cannot repeat the call.
 */
const ANSWER_BOUNDS = { maxBytes: 2_000_000, maxValues: 100_000 } as const;
/** Wait before the second try, and the factor for each further one: the reference's. */
const FIRST_WAIT_MS = 10;
const WAIT_FACTOR = 5;

/** The failure of an entry without data. */
class EntryFailure extends Error implements Shown {
  override readonly name = "EntryFailure";

  constructor(
    readonly shown: string,
    cause?: unknown,
  ) {
    super(cause === undefined ? shown : `${shown}: ${wholeText(cause)}`);
  }
}

/** The servers that calls may be made to. */
export interface CallParts {
  /** Absent: there is no cluster, and calls that need one fail. */
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

  /** See {@link import("./entry-source.js").EntrySource}. */
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
    const queried = projections.size === 0 ? undefined : plain(data);
    for (const [name, query] of projections) {
      const result = query instanceof LookupFailure ? query : query(queried);
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
    const mistake = pathMistake(path);
    if (mistake !== undefined) throw new EntryFailure(`failed to ${method} resource with raw url: ${path}: ${mistake}`);
    const { pathname, query } = parted(path);
    const { http, signal } = cluster;
    try {
      if (method === "POST") return await http.post(pathname, data, signal, ANSWER_BOUNDS);
      return (await http.get(pathname, new URLSearchParams(query), signal, ANSWER_BOUNDS)).value;
    } catch (error) {
      const forbidden = error instanceof ApiError && (error.status === 401 || error.status === 403);
      const told = shownText(error, "the policy server could not ask the cluster");
      const reason = `${forbidden ? "permission denied: " : ""}${told}`;
      throw new EntryFailure(`failed to ${method} resource with raw url: ${path}: ${reason}`, error);
    }
  }

  async #fromServer({ method, data, target }: EntryCall): Promise<unknown> {
    if (!("url" in target)) throw new EntryFailure("missing service for APICall globalcontext");
    const { url, ca: pem, headers } = target;
    const ca = trusted(pem);
    if (ca === undefined) throw new EntryFailure("failed to parse PEM CA bundle for APICall");
    const body = method === "POST" ? `${goJson(data)}\n` : undefined;
    let reply: HttpReply;
    try {
      reply = await this.#parts.client.request(
        { method, url, headers, body, ca },
        { maxBytes: ANSWER_BOUNDS.maxBytes },
      );
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      const reason =
        error.reason === undefined
          ? `failed to validate URL for APICall globalcontext: ${error.message}`
          : `failed to execute HTTP request for APICall globalcontext: ${error.reason}`;
      throw new EntryFailure(reason, error.detail === undefined ? undefined : new Error(error.detail));
    }
    const { status } = reply;
    const text = reply.body.toString("utf8");
    if (status < 200 || status >= 300) throw new EntryFailure(`HTTP ${status}`, text.slice(0, MAX_TOLD_CHARACTERS));
    if (hasMoreValues(text, ANSWER_BOUNDS.maxValues)) {
      throw new EntryFailure(`the answer has more than ${ANSWER_BOUNDS.maxValues} values`);
    }
    try {
      return parseJson(text);
    } catch (error) {
      throw new EntryFailure("the answer is not JSON", error);
    }
  }
}

/** The error of a path that could lead outside the API server's own, or be read in two ways. */
function pathMistake(path: string): string | undefined {
  if (!path.startsWith("/")) return "it does not begin with a slash";
  const { pathname } = parted(path);
  try {
    const segments = `${pathname}/${decodeURIComponent(pathname)}`.split(/[/\\]/);
    const dots = segments.some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
    return dots || pathname.includes("\\") ? "it has dots or backslashes for segments" : undefined;
  } catch {
    return "it cannot be decoded";
  }
}

/** A path, and the text behind its first `?`. */
function parted(path: string): { readonly pathname: string; readonly query: string } {
  const at = path.indexOf("?");
  return at < 0 ? { pathname: path, query: "" } : { pathname: path.slice(0, at), query: path.slice(at + 1) };
}

/** Most characters of a refusal's text in the log. */
const MAX_TOLD_CHARACTERS = 300;
