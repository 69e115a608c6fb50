import { JsonError, parseJson, stringifyJson } from "../data/json.js";
import { isJsonObject } from "../data/same-value.js";
import type { GuestLogLevel, LogLine } from "./run/guest/call.js";
import type { GuestLogEntry } from "./wasm-policy.js";

/** Levels of `tracing/log`; `warn` is added for guests that write it so. */
const TRACING_LEVELS: Readonly<Record<string, GuestLogLevel>> = {
  trace: "trace",
  debug: "debug",
  info: "info",
  warning: "warn",
  warn: "warn",
  error: "error",
};

/**
 * Reads a `tracing/log` event (spec kubewarden.md 7.3); other lines are logged unchanged.
 * @param request the uid of the guest's request, if there is one
 */
export function logEntry(policy: string, request: string | undefined, line: LogLine): GuestLogEntry {
  const { level, text, source } = line;
  const about = request === undefined ? {} : { request_uid: request };
  if (source !== "event") return { policy, level, message: text, fields: about };
  const event = readEvent(text);
  if (typeof event === "string")
    return { policy, level: "error", message: "Cannot log event", fields: { ...about, payload: text, error: event } };
  return { policy, level: event.level, message: event.message, fields: { ...about, data: event.data } };
}

interface TracingEvent {
  readonly level: GuestLogLevel;
  readonly message: string;
  /** JSON text of all other keys. */
  readonly data: string;
}

/** The event, or the reason why it is invalid. */
function readEvent(text: string): TracingEvent | string {
  let event: unknown;
  try {
    event = parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return error.message;
    throw error;
  }
  if (!isJsonObject(event)) return "not an object";
  const { level, message, ...others } = event;
  if (level === undefined) return "missing field `level`";
  const name = String(level);
  const known = Object.hasOwn(TRACING_LEVELS, name.toLowerCase()) ? TRACING_LEVELS[name.toLowerCase()] : undefined;
  if (known === undefined) return `unknown log level ${name}`;
  if (message !== undefined && message !== null && typeof message !== "string") return "`message` is not a string";
  return { level: known, message: message ?? "", data: stringifyJson(others) };
}
