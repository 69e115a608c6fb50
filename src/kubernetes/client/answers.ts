/** What an API server answers: texts of bounded size, and refusals. */
import type { Dispatcher } from "undici";
import { GatheredBytes } from "../../data/gathered-bytes.js";
import { parseJson } from "../../data/json.js";
import { member, text } from "../object.js";
import type { Connection } from "./connection.js";
import { AnswerTooLarge, ApiError, ClusterUnreachable, reasonOf } from "./errors.js";

/**
 * The whole text of an answer.
 * @param limit most bytes
 * @throws AnswerTooLarge
 */
export async function readText(body: Dispatcher.ResponseData["body"], limit: number): Promise<string> {
  const bytes = new GatheredBytes();
  for await (const chunk of body) {
    bytes.add(chunk as Uint8Array);
    if (bytes.size > limit) {
      body.destroy();
      throw new AnswerTooLarge(`${limit} bytes`);
    }
  }
  return bytes.take().toString("utf8");
}

/** The API server's own words, when the body is a Status. */
export function apiError(status: number, headers: Dispatcher.ResponseData["headers"], body: string): ApiError {
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

/** The failure that something thrown on the way stands for. */
export function unreachable({ server }: Connection, cause: unknown): Error {
  if (cause instanceof Error && "code" in cause && String(cause.code).startsWith("KUBERNETES_")) return cause;
  return new ClusterUnreachable(`cannot reach the API server at ${server.host}: ${reasonOf(cause)}`, { cause });
}
