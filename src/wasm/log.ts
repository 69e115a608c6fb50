/** From a worker's log message to a log entry. */
import { JsonError, parseJson, stringifyJson } from "../data/json.js";
import type { GuestLogEntry } from "./runtime.js";
import type { LogMessage } from "./worker/messages.js";

/** Reads a `tracing/log` event (spec kubewarden.md 7.3); other lines are taken as they are. */
export function logEntry(policy: string, { level, text, source }: LogMessage): GuestLogEntry {
  if (source !== "event") return { policy, level, message: text };
  let event: unknown;
  try {
    event = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  if (typeof event !== "object" || event === null || Array.isArray(event))
    return { policy, level: "error", message: "Cannot log event" };
  const { level: _, message, ...data } = event as Record<string, unknown>;
  return {
    policy,
    level,
    message: typeof message === "string" ? message : "",
    ...(Object.keys(data).length > 0 && { data: stringifyJson(data) }),
  };
}
