/** HTTP to an API server: JSON in, JSON or a stream of lines out. */
import { setTimeout as delay } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { parseJson, stringifyJson } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { member, text } from "../object.js";
import { endWithin } from "./abort.js";
import type { Connection, Identity } from "./connection.js";
import { AnswerTooLarge, ApiError, ClusterUnreachable, reasonOf } from "./errors.js";
import {
  CONNECT_MS,
  MAX_ANSWER_BYTES,
  MAX_CONNECTIONS,
  MAX_EVENT_BYTES,
  MAX_RETRIES,
  MAX_RETRY_AFTER_MS,
  REQUEST_MS,
} from "./limits.js";

/** Names and values behind the `?`. */
export type Query = Readonly<Record<string, string>>;

/** The type of a server-side apply; JSON is YAML too. */
const APPLY_PATCH = "application/apply-patch+yaml";

/** Loaded when a cluster is asked for the first time: a server without one starts without it. */
const loadUndici = () => import("undici");

/** One set of connections, valid as long as the identity's certificates are. */
interface Dispatchers {
  readonly key: string;
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

/** How one document is asked for. */
export interface DocumentOptions {
  /** Most bytes of its text; default {@link MAX_ANSWER_BYTES}. */
  readonly maxBytes?: number;
  /** Most values in it, where somebody else chooses what is asked: a text of brackets holds everybody up while it is parsed. */
  readonly maxValues?: number;
  /** Never sent a second time, also when the server has put it off or refused the credentials. */
  readonly once?: boolean;
}

/** A document with the size of its text. */
export interface Answer {
  readonly value: unknown;
  readonly bytes: number;
}

/** A client of one API server. Every method throws ApiError, ClusterUnreachable, or ClusterConfigError. */
export class ClusterHttp {
  readonly #connection: Connection;
  #dispatchers: Dispatchers | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async get(
    path: string,
    query: Query | URLSearchParams,
    signal: AbortSignal,
    options: DocumentOptions = {},
  ): Promise<Answer> {
    return this.#document({ method: "GET", path, query }, signal, options);
  }

  async post(path: string, body: unknown, signal: AbortSignal, options: DocumentOptions = {}): Promise<unknown> {
    return (await this.#document({ method: "POST", path, query: {}, body }, signal, options)).value;
  }

  /**
   * Changes an object as far as the patch says, as the manager of the fields that it names (server-side apply). Who else manages them gives way.
   * @returns the object as it is then
   */
  async apply(path: string, patch: unknown, fieldManager: string, signal: AbortSignal): Promise<unknown> {
    const query: Query = { fieldManager, force: "true" };
    const request: ApiRequest = { method: "PATCH", path, query, body: patch, contentType: APPLY_PATCH };
    return (await this.#document(request, signal, {})).value;
  }

  /** The lines of an answer that goes on. */
  async *lines(
    path: string,
    query: Query,
    { silence, opened }: Following,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const { statusCode, headers, body } = await this.#send({ method: "GET", path, query, silence }, signal);
    if (statusCode !== 200) throw apiError(statusCode, headers, await readText(body, MAX_EVENT_BYTES));
    opened();
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of body) {
        rest += decoder.decode(chunk as Uint8Array, { stream: true });
        let end = rest.indexOf("\n");
        while (end >= 0) {
          yield rest.slice(0, end);
          rest = rest.slice(end + 1);
          end = rest.indexOf("\n");
        }
        if (rest.length > MAX_EVENT_BYTES) throw new ClusterUnreachable("an event of a watch is too large");
      }
    } catch (cause) {
      throw unreachable(this.#connection, cause);
    } finally {
      body.destroy();
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const open = this.#dispatchers;
    this.#dispatchers = undefined;
    await Promise.all([open?.requests.destroy(), open?.watches.destroy()]);
  }

  async #document(request: ApiRequest, outer: AbortSignal, options: DocumentOptions): Promise<Answer> {
    const { maxBytes = MAX_ANSWER_BYTES, maxValues, once = false } = options;
    const limit = endWithin(outer, REQUEST_MS);
    try {
      for (let attempt = 0; ; attempt++) {
        const { statusCode, headers, body } = await this.#send(request, limit.signal, once);
        const answer = await readText(body, maxBytes);
        if (maxValues !== undefined && hasMoreValues(answer, maxValues))
          throw new AnswerTooLarge(`${maxValues} values`);
        if (statusCode >= 200 && statusCode < 300) return { value: parseJson(answer), bytes: answer.length };
        const wait = Number(headers["retry-after"]) * 1000;
        // 429 and a 503 with a time were not acted on, so that even a POST may be repeated.
        const putOff = (statusCode === 429 || statusCode === 503) && wait >= 0;
        if (!putOff || once || attempt === MAX_RETRIES) throw apiError(statusCode, headers, answer);
        await delay(Math.min(wait, MAX_RETRY_AFTER_MS), undefined, { signal: limit.signal });
      }
    } catch (cause) {
      if (outer.aborted) {
        const message = "nobody waits for the answer any more";
        throw new ClusterUnreachable(message, { cause, shown: message });
      }
      if (limit.signal.aborted) {
        const shown = "the API server did not answer in time";
        throw new ClusterUnreachable(`no answer from ${this.#connection.server.host} in time`, { cause, shown });
      }
      throw unreachable(this.#connection, cause);
    } finally {
      limit.done();
    }
  }

  async #send(request: ApiRequest, signal: AbortSignal, once = false): Promise<Dispatcher.ResponseData> {
    const first = await this.#sendOnce(request, signal);
    if (first.statusCode !== 401) return first;
    // Tokens are replaced while we run: with the new one it may work.
    this.#connection.refused();
    if (once) return first;
    await first.body.dump();
    return this.#sendOnce(request, signal);
  }

  async #sendOnce(request: ApiRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { method, path, query, body, contentType = "application/json", silence } = request;
    const { server, headers } = this.#connection;
    const identity = await this.#connection.identity();
    const { requests, watches } = await this.#connected(identity);
    const url = new URL(server);
    url.pathname = `${server.pathname.replace(/\/$/, "")}${path}`;
    url.search = new URLSearchParams(query).toString();
    const sent: Record<string, string | string[]> = {
      accept: "application/json",
      "user-agent": "policy-group-gateway",
      ...(identity.authorization !== undefined && { authorization: identity.authorization }),
      ...(body !== undefined && { "content-type": contentType }),
    };
    for (const [name, value] of Object.entries(headers)) sent[name] = typeof value === "string" ? value : [...value];
    const { request: sendRequest } = await loadUndici();
    try {
      return await sendRequest(url, {
        method,
        headers: sent,
        signal,
        dispatcher: silence === undefined ? requests : watches,
        headersTimeout: REQUEST_MS,
        bodyTimeout: silence ?? REQUEST_MS,
        ...(body !== undefined && { body: stringifyJson(body) }),
      });
    } catch (cause) {
      throw unreachable(this.#connection, cause);
    }
  }

  async #connected({ ca, cert, key }: Identity): Promise<Dispatchers> {
    const name = JSON.stringify([ca, cert, key]);
    if (this.#dispatchers?.key === name) return this.#dispatchers;
    const { Agent, ProxyAgent } = await loadUndici();
    // Another caller may have made them while this one was waiting.
    const current: Dispatchers | undefined = this.#dispatchers;
    if (current?.key === name) return current;
    // What runs on old certificates may end in peace.
    void current?.requests.close();
    void current?.watches.close();
    const { insecure, serverName, proxy } = this.#connection;
    const tls = {
      timeout: CONNECT_MS,
      rejectUnauthorized: !insecure,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(serverName !== undefined && { servername: serverName }),
    };
    const make = (limit: { connections?: number }): Dispatcher =>
      proxy === undefined
        ? new Agent({ connect: tls, ...limit })
        : new ProxyAgent({ uri: proxy, requestTls: tls, ...limit });
    this.#dispatchers = { key: name, requests: make({ connections: MAX_CONNECTIONS }), watches: make({}) };
    return this.#dispatchers;
  }
}

/** How an answer is followed that goes on. */
export interface Following {
  /** Milliseconds without a byte after which it ends with ClusterUnreachable. */
  readonly silence: number;
  /** Called when the server has agreed. */
  readonly opened: () => void;
}

interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  /** With names that are repeated, where it is no record. */
  readonly query: Query | URLSearchParams;
  readonly body?: unknown;
  /** Of the body; default JSON. */
  readonly contentType?: string;
  /** Set for answers that go on. */
  readonly silence?: number;
}

async function readText(body: Dispatcher.ResponseData["body"], limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = chunk as Uint8Array;
    size += bytes.length;
    if (size > limit) {
      body.destroy();
      throw new AnswerTooLarge(`${limit} bytes`);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The API server's own words, when the body is a Status. */
function apiError(status: number, headers: Dispatcher.ResponseData["headers"], body: string): ApiError {
  if (String(headers["content-type"] ?? "").includes("json")) {
    try {
      const value = parseJson(body);
      const message = text(value, "message");
      const continuation = text(member(value, "metadata"), "continue");
      if (message !== "") return new ApiError(status, text(value, "reason"), message, continuation);
    } catch {
      // Not a Status after all: the text itself is the best there is.
    }
  }
  return new ApiError(status, "", body.trim().slice(0, 200) || `HTTP status ${status}`);
}

/** The error of an event of a watch, which is a Status. */
export function eventError(status: unknown): ApiError {
  const code = member(status, "code");
  const message = text(status, "message") || "the watch ended with an error";
  return new ApiError(typeof code === "number" ? code : 500, text(status, "reason"), message);
}

function unreachable({ server }: Connection, cause: unknown): Error {
  if (cause instanceof Error && "code" in cause && String(cause.code).startsWith("KUBERNETES_")) return cause;
  return new ClusterUnreachable(`cannot reach the API server at ${server.host}: ${reasonOf(cause)}`, { cause });
}
