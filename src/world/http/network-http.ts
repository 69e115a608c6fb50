import { withDoubles } from "../../data/doubles.js";
import { parseJson } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { wholeText } from "../../data/public-text.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { LookupFailure } from "../resources/resource-source.js";
import type { GuardedClient, HttpReply } from "./guarded-client.js";
import { HttpFailure } from "./http-failure.js";
import { type HttpQuestion, type HttpSource, NOT_IN_NAMESPACES } from "./http-source.js";
import { MAX_BODY_VALUES } from "./limits.js";

/** Sends requests to the network. Nothing is kept: a question is asked anew for every request. */
export class NetworkHttp implements HttpSource {
  readonly #client: GuardedClient;
  readonly #forNamespaced: boolean;

  /** @param forNamespaced whether policies that are confined to a namespace may ask */
  constructor(client: GuardedClient, forNamespaced: boolean) {
    this.#client = client;
    this.#forNamespaced = forNamespaced;
  }

  async send({ namespaced, ...request }: HttpQuestion): Promise<JsonObject | LookupFailure> {
    if (namespaced && !this.#forNamespaced) return NOT_IN_NAMESPACES;
    try {
      return answerOf(await this.#client.request(request));
    } catch (error) {
      return failureOf(error);
    }
  }
}

/** The failure of a request, for answers and the log. */
export function failureOf(error: unknown): LookupFailure {
  if (error instanceof HttpFailure) return new LookupFailure(error.message, error.detail);
  return new LookupFailure("request failed: the request cannot be made", wholeText(error));
}

function answerOf({ status, body }: HttpReply): JsonObject | LookupFailure {
  const text = body.toString("utf8");
  if (hasMoreValues(text, MAX_BODY_VALUES)) {
    return new LookupFailure(`request failed: the answer has more than ${MAX_BODY_VALUES} values`);
  }
  const value = jsonOf(text);
  if (isObject(value)) return { ...value, statusCode: status };
  return { body: value, statusCode: status };
}

/** The value of a JSON text; null for any other text. */
function jsonOf(text: string): unknown {
  try {
    return withDoubles(parseJson(text));
  } catch {
    return null;
  }
}
