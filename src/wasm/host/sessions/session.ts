/**
 * Sessions: host calls of a policy with their answers, recorded once and replayed without a cluster or a registry. The format is kwctl's, spec
 * kubewarden.md 10.2. Gates come first: a refused call is neither recorded nor replayed.
 */
import { errorText } from "../../../data/error-text.js";
import { parseJson, stringifyJson } from "../../../data/json.js";
import { printYaml } from "../../../data/print-yaml.js";
import { PublicError, shownText } from "../../../data/public-text.js";
import { isJsonObject } from "../../../data/same-value.js";
import { readYamlDocument } from "../../../data/yaml.js";
import type { Executor } from "../executor.js";
import { FAILED, jsonOf } from "../host.js";
import { PayloadError } from "../payload.js";
import {
  formatTaggedRequest,
  parseTaggedRequest,
  sameRequest,
  type TaggedRequest,
  taggedRequest,
} from "./tagged-request.js";

type Answer =
  | { readonly type: "Success"; readonly payload: string }
  | { readonly type: "Error"; readonly message: string };

interface Exchange {
  readonly request: TaggedRequest;
  readonly response: Answer;
}

/** Error of an unusable session file; the message names the entry. */
export class SessionError extends Error {
  readonly code = "host-session";
  override readonly name = "SessionError";
}

/** A session that is being recorded. */
export interface Recording {
  readonly execute: Executor;
  /** The session file so far. */
  text(): string;
}

/** Starts a recording. */
export function recordSession(): Recording {
  const exchanges: Exchange[] = [];
  return {
    async execute(call, run) {
      const request = taggedRequest(call);
      try {
        const answer = await run();
        if (request) exchanges.push({ request, response: { type: "Success", payload: jsonOf(answer) } });
        return answer;
      } catch (error) {
        // The guest's message, so that a replay gives the same.
        const message = shownText(error, FAILED);
        // An invalid call is not recorded.
        if (request && !(error instanceof PayloadError))
          exchanges.push({ request, response: { type: "Error", message } });
        throw error;
      }
    },
    text: () =>
      printYaml(
        exchanges.map(({ request, response }) => ({
          type: "Exchange",
          request: formatTaggedRequest(request),
          response,
        })),
      ),
  };
}

/** A session that is being replayed. */
export interface Replay {
  readonly execute: Executor;
  /** Number of recorded exchanges that were not used yet. */
  left(): number;
}

/**
 * Starts a replay, strictly in order: each call must equal the next recorded one, which counts as used even if it doesn't.
 * @param text a session file
 * @throws SessionError
 */
export function replaySession(text: string): Replay {
  const exchanges = readSession(text);
  let next = 0;
  return {
    async execute(call) {
      const request = taggedRequest(call);
      const exchange = exchanges[next];
      next++;
      if (!exchange) throw new PublicError("the list of recorded responses is empty");
      if (!request || !sameRequest(request, exchange.request))
        throw new PublicError(
          `Replay error: unexpected request. Was expecting ${describe(exchange.request)}, got ${
            request ? describe(request) : `${call.namespace}/${call.operation}`
          } instead`,
        );
      const { response } = exchange;
      if (response.type === "Error") throw new PublicError(response.message);
      return parseJson(response.payload);
    },
    left: () => Math.max(0, exchanges.length - next),
  };
}

function describe({ tag, fields }: TaggedRequest): string {
  return `${tag} ${stringifyJson(fields)}`;
}

function readSession(text: string): Exchange[] {
  let list: unknown;
  try {
    list = readYamlDocument(text)?.value ?? [];
  } catch (error) {
    throw new SessionError(`the session file is not YAML: ${errorText(error)}`, { cause: error });
  }
  if (!Array.isArray(list)) throw new SessionError("the session file must hold a list of exchanges");
  return list.map((entry: unknown, index) => {
    try {
      return exchangeOf(entry);
    } catch (error) {
      const reason = errorText(error);
      throw new SessionError(`exchange ${index + 1} of the session file can't be used: ${reason}`, { cause: error });
    }
  });
}

function exchangeOf(entry: unknown): Exchange {
  const { type, request, response } = fieldsOf(entry, "an exchange");
  if (type !== "Exchange") throw new Error(`its type must be Exchange, not ${JSON.stringify(type)}`);
  if (typeof request !== "string") throw new Error("its request must be a text");
  const answer = fieldsOf(response, "the response");
  const tagged = parseTaggedRequest(request);
  if (answer.type === "Success" && typeof answer.payload === "string")
    return { request: tagged, response: { type: "Success", payload: answer.payload } };
  if (answer.type === "Error" && typeof answer.message === "string")
    return { request: tagged, response: { type: "Error", message: answer.message } };
  throw new Error("its response must be a Success with a payload or an Error with a message");
}

function fieldsOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new Error(`${what} must be a map`);
  return value;
}
