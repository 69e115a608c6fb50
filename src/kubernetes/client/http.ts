/** HTTP to an API server: JSON in, JSON or a stream of lines out. */
import { setTimeout as delay } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { hasMoreValues } from "../../data/json-values.js";
import { LineReader } from "../../data/line-reader.js";
import { endWithin } from "./abort.js";
import { apiError, readAnswer, readText, unreachable } from "./answers.js";
import type { Connection, Identity } from "./connection.js";
import { AnswerTooLarge, ApiError, ClusterUnreachable } from "./errors.js";
import {
  CONNECT_MS,
  MAX_ANSWER_BYTES,
  MAX_CONNECTIONS,
  MAX_EVENT_BYTES,
  MAX_RETRIES,
  MAX_RETRY_AFTER_MS,
  READY_ANSWER_MS,
  REQUEST_MS,
} from "./limits.js";
import { Outage, type Readiness } from "./outage.js";
import {
  type ApiRequest,
  type ApplyOptions,
  applyRequest,
  bodyText,
  createRequest,
  type DeleteOptions,
  type DocumentOptions,
  deleteRequest,
  type PatchType,
  patchRequest,
  type Query,
  replaceRequest,
  type WriteOptions,
} from "./requests.js";

export type { ApplyOptions, DeleteOptions, DocumentOptions, PatchType, Query, WriteOptions } from "./requests.js";

const JSON_TYPE = "application/json";

/** Loads the HTTP client when a cluster is first needed: a server without one starts without it. */
const loadUndici = () => import("undici");

/** One set of connections, valid as long as the identity's certificates are. */
interface Dispatchers {
  readonly key: string;
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

/** A document with the size of its text. */
export interface Answer {
  readonly value: unknown;
  readonly bytes: number;
}

/** A client of one API server. Every method throws ApiError, ClusterUnreachable, or ClusterConfigError. */
export class ClusterHttp {
  readonly #connection: Connection;
  /** Whether the API server is away. */
  readonly outage: Outage;
  #dispatchers: Dispatchers | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.outage = new Outage(() => this.#isReady());
  }

  async get(
    path: string,
    query: Query | URLSearchParams,
    signal: AbortSignal,
    options: DocumentOptions = {},
  ): Promise<Answer> {
    return this.#document(
      { method: "GET", path, query, ...(options.accept && { accept: options.accept }) },
      signal,
      options,
    );
  }

  async post(path: string, body: unknown, signal: AbortSignal, options: DocumentOptions = {}): Promise<unknown> {
    return (await this.#document({ method: "POST", path, query: {}, body }, signal, options)).value;
  }

  /**
   * Creates an object in a collection.
   * @returns the object as it is then
   * @throws ApiError with status 409 and reason `AlreadyExists` when there is one of that name
   */
  async create(path: string, body: unknown, options: WriteOptions, signal: AbortSignal): Promise<unknown> {
    return (await this.#document(createRequest(path, body, options), signal, options)).value;
  }

  /**
   * Replaces an object, or its subresource; only the version that `metadata.resourceVersion` of the body names, if it names one.
   * @returns the object as it is then
   * @throws ApiError with status 409 and reason `Conflict` when it has changed since
   */
  async replace(path: string, body: unknown, options: WriteOptions, signal: AbortSignal): Promise<unknown> {
    return (await this.#document(replaceRequest(path, body, options), signal, options)).value;
  }

  /**
   * Changes an object, or its subresource.
   * @param patch as its type says
   * @returns the object as it is then
   */
  async patch(
    path: string,
    type: PatchType,
    patch: unknown,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<unknown> {
    return (await this.#document(patchRequest(path, type, patch, options), signal, options)).value;
  }

  /**
   * Creates or changes an object as far as the configuration says, as the manager of the fields that it names (server-side apply).
   * @param configuration with apiVersion, kind and name
   * @returns the object as it is then
   * @throws ApiError with status 409 and reason `Conflict` when others manage a field and it is not forced
   */
  async apply(path: string, configuration: unknown, options: ApplyOptions, signal: AbortSignal): Promise<unknown> {
    return (await this.#document(applyRequest(path, configuration, options), signal, options)).value;
  }

  /**
   * Deletes an object.
   * @returns the object when others have to finish something first (finalizers), else a Status
   * @throws ApiError with status 404 when there is none, 409 when it is not the one of the preconditions
   */
  async delete(path: string, options: DeleteOptions, signal: AbortSignal): Promise<unknown> {
    return (await this.#document(deleteRequest(path, options), signal, options)).value;
  }

  /** The lines of an answer that goes on. */
  async *lines(
    path: string,
    query: Query,
    { silence, opened, accept }: Following,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const { statusCode, headers, body } = await this.#send(
      { method: "GET", path, query, silence, ...(accept !== undefined && { accept }) },
      signal,
    );
    if (statusCode !== 200) throw apiError(statusCode, headers, await readText(body, MAX_EVENT_BYTES));
    opened();
    const lines = new LineReader();
    try {
      for await (const chunk of body) {
        for (const line of lines.push(chunk as Buffer)) yield line.toString("utf8");
        if (lines.pending > MAX_EVENT_BYTES) throw new ClusterUnreachable("an event of a watch is too large");
      }
    } catch (cause) {
      throw this.#unreachable(cause, signal);
    } finally {
      body.destroy();
    }
  }

  /** The state of the API server, as it says. Before it has read its roles it refuses to tell. */
  async #isReady(): Promise<Readiness> {
    const limit = endWithin(new AbortController().signal, READY_ANSWER_MS);
    try {
      const { statusCode, body } = await this.#sendOnce({ method: "GET", path: "/readyz", query: {} }, limit.signal);
      await body.dump();
      if (statusCode === 401 || statusCode === 403) return "refuses";
      return statusCode < 500 ? "ready" : "starts";
    } catch {
      return "away";
    } finally {
      limit.done();
    }
  }

  #unreachable(cause: unknown, signal: AbortSignal): Error {
    const error = unreachable(this.#connection, cause);
    if (error !== cause && !signal.aborted) this.outage.lost();
    return error;
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.outage.end();
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
        if (statusCode >= 200 && statusCode < 300) return { value: await readAnswer(answer), bytes: answer.length };
        const wait = Number(headers["retry-after"]) * 1000;
        // 429 and a 503 with a time were not processed, so that even a POST may be repeated.
        const putOff = (statusCode === 429 || statusCode === 503) && wait >= 0;
        const refusal = apiError(statusCode, headers, answer);
        if (!putOff || once || attempt === MAX_RETRIES) throw refusal;
        // An end while it waits is the end of a request that was answered.
        await delay(Math.min(wait, MAX_RETRY_AFTER_MS), undefined, { signal: limit.signal }).catch(() => {
          throw refusal;
        });
      }
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      if (outer.aborted) {
        const message = "the caller no longer waits for the answer";
        throw new ClusterUnreachable(message, { cause, shown: message });
      }
      if (limit.signal.aborted) {
        this.outage.lost();
        const shown = "the API server did not answer in time";
        throw new ClusterUnreachable(`no answer from ${this.#connection.server.host} in time`, { cause, shown });
      }
      throw this.#unreachable(cause, outer);
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
    const { method, path, query, contentType = JSON_TYPE, accept = JSON_TYPE, silence } = request;
    const sentBody = bodyText(request);
    const { server, headers } = this.#connection;
    const identity = await this.#connection.identity();
    const { requests, watches } = await this.#connected(identity);
    const url = new URL(server);
    url.pathname = `${server.pathname.replace(/\/$/, "")}${path}`;
    url.search = new URLSearchParams(query).toString();
    const sent: Record<string, string | string[]> = {
      accept,
      "user-agent": "policy-group-gateway",
      ...(identity.authorization !== undefined && { authorization: identity.authorization }),
      ...(sentBody !== undefined && { "content-type": contentType }),
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
        ...(sentBody !== undefined && { body: sentBody }),
      });
    } catch (cause) {
      throw this.#unreachable(cause, signal);
    }
  }

  async #connected({ ca, cert, key }: Identity): Promise<Dispatchers> {
    const name = JSON.stringify([ca, cert, key]);
    if (this.#dispatchers?.key === name) return this.#dispatchers;
    const { Agent, ProxyAgent } = await loadUndici();
    // Another caller may have made them while this one was waiting.
    const current: Dispatchers | undefined = this.#dispatchers;
    if (current?.key === name) return current;
    // Requests with the old certificates may finish.
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

/** How an endless answer is followed. */
export interface Following {
  /** Milliseconds without a byte after which it ends with ClusterUnreachable. */
  readonly silence: number;
  /** Called when the server has accepted. */
  readonly opened: () => void;
  /** Content type of the answer; default JSON. */
  readonly accept?: string;
}
