/** Reads the answers of an API server: texts of bounded size, and refusals. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { GatheredBytes } from "../../data/gathered-bytes.js";
import { parseJson, readJsonInSteps } from "../../data/json.js";
import { member, text } from "../object.js";
import type { Connection } from "./connection.js";
import { AnswerTooLarge, type ApiCause, ApiError, ClusterUnreachable, reasonOf } from "./errors.js";
import { STORE_PAGE_BYTES } from "./limits.js";

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

/** Characters of an answer from which on others have their turn before it is parsed: a millisecond or two of reading. */
const LONG = 128 * 1024;

/**
 * Reads an answer of JSON. Keys in `managedFields` have escapes, so that most answers need the exact reader: some 50 ms for a page of {@link STORE_PAGE_BYTES}.
 * Longer ones are read with turns for others in between.
 */
export async function readAnswer(text: string): Promise<unknown> {
  if (text.length < LONG) return parseJson(text);
  if (text.length <= STORE_PAGE_BYTES) {
    const value = parseJson(text);
    await nextTurn();
    return value;
  }
  const steps = readJsonInSteps(text, {}, Buffer.from(text));
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value.value;
    await nextTurn();
  }
}

/** The API server's own words, when the body is a Status. */
export function apiError(status: number, headers: Dispatcher.ResponseData["headers"], body: string): ApiError {
  if (String(headers["content-type"] ?? "").includes("json")) {
    try {
      const value = parseJson(body);
      const message = text(value, "message");
      const continuation = text(member(value, "metadata"), "continue");
      if (message !== "")
        return new ApiError(status, text(value, "reason"), message, continuation, causesOf(member(value, "details")));
    } catch {
      // Not a Status after all: the text itself is the best message.
    }
  }
  return new ApiError(status, "", body.trim().slice(0, 200) || `HTTP status ${status}`);
}

function causesOf(details: unknown): readonly ApiCause[] {
  const causes = member(details, "causes");
  if (!Array.isArray(causes)) return [];
  return causes.map((cause: unknown) => ({ field: text(cause, "field"), message: text(cause, "message") }));
}

/** The error of an event of a watch, which is a Status. */
export function eventError(status: unknown): ApiError {
  const code = member(status, "code");
  const message = text(status, "message") || "the watch ended with an error";
  return new ApiError(typeof code === "number" ? code : 500, text(status, "reason"), message);
}

/** The failure for an exception during a request. */
export function unreachable({ server }: Connection, cause: unknown): Error {
  if (cause instanceof Error && "code" in cause && String(cause.code).startsWith("KUBERNETES_")) return cause;
  return new ClusterUnreachable(`cannot reach the API server at ${server.host}: ${reasonOf(cause)}`, { cause });
}
