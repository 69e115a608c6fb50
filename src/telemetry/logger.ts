/** The structured log: text for people, JSON for machines (spec kubewarden.md 8.2). */
import { escaped } from "../data/printable.js";
import type { LineSink } from "./line-sink.js";

/** The levels, from most to least verbose. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error"] as const;
/** The level of a line. */
export type LogLevel = (typeof LOG_LEVELS)[number];
/** The format of lines. */
export type LogFormat = "text" | "json";

/** The fields of a line besides its message. Never objects of requests; undefined members are left out. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One line before it is formatted. */
export interface LogRecord {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: LogLevel;
  readonly target: string;
  readonly message: string;
  readonly fields?: LogFields;
  /** The W3C header of the span that the line belongs to. */
  readonly traceparent?: string;
}

/** Receives log records besides the lines: an exporter. */
export interface RecordSink {
  /** Never blocks, never throws. */
  write(record: LogRecord): void;
}

/** Writes log lines. */
export interface Logger {
  /** Whether lines of this level are written: for callers with expensive fields. */
  enabled(level: LogLevel): boolean;
  /** @param traceparent the W3C header of the span that the line belongs to; not shown in lines */
  log(level: LogLevel, message: string, fields?: LogFields, traceparent?: string): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log under another name, such as `policy_log` for guests' messages. */
  named(target: string): Logger;
}

const DEFAULT_TARGET = "policy_server";

/** Options of a logger. */
export interface LoggerOptions {
  readonly sink: LineSink;
  /** Also receives every line as a record. */
  readonly records?: RecordSink;
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  /** Colours in text lines. */
  readonly color?: boolean;
  /** The subject of the lines; default `policy_server`. */
  readonly target?: string;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly clock?: () => number;
}

/** A logger that writes lines to a sink. */
export function createLogger(options: LoggerOptions): Logger {
  const { sink, records, level: least = "info", format = "text", color = false } = options;
  const { target = DEFAULT_TARGET, clock = Date.now } = options;
  const threshold = LOG_LEVELS.indexOf(least);
  const timestamp = rememberTimestamp(clock);
  const print = (level: LogLevel, message: string, fields: LogFields | undefined): string =>
    format === "json"
      ? jsonLine(timestamp(), level, target, message, fields)
      : textLine(timestamp(), level, target, message, fields, color);
  const enabled = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= threshold;
  const log: Logger["log"] = (level, message, fields, traceparent) => {
    if (!enabled(level)) return;
    sink.write(print(level, message, fields));
    records?.write({
      time: clock(),
      level,
      target,
      message,
      ...(fields && { fields }),
      ...(traceparent !== undefined && { traceparent }),
    });
  };
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => log(level, message, fields);
  return {
    enabled,
    log,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    named: (other) => createLogger({ ...options, target: other }),
  };
}

/** A clock that formats each millisecond once: under load many lines share one. */
function rememberTimestamp(clock: () => number): () => string {
  let last = Number.NaN;
  let text = "";
  return () => {
    const now = clock();
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

function jsonLine(
  timestamp: string,
  level: LogLevel,
  target: string,
  message: string,
  fields: LogFields | undefined,
): string {
  const body = JSON.stringify({ message, ...fields });
  // The log of a pod is read on a terminal: characters that it would interpret become escapes of JSON, too.
  return escaped(
    `{"timestamp":"${timestamp}","level":"${level.toUpperCase()}","fields":${body},"target":${JSON.stringify(target)}}`,
  );
}

const COLORS: Readonly<Record<LogLevel, number>> = { trace: 35, debug: 34, info: 32, warn: 33, error: 31 };

function textLine(
  timestamp: string,
  level: LogLevel,
  target: string,
  message: string,
  fields: LogFields | undefined,
  color: boolean,
): string {
  const name = level.toUpperCase().padStart(5);
  let line = `${timestamp} ${color ? `\u001b[${COLORS[level]}m${name}\u001b[0m` : name} ${target}: ${escaped(message)}`;
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) line += ` ${escaped(key)}=${fieldText(value)}`;
  }
  return line;
}

/** Words as they are, everything else quoted: one line stays one line, whatever a client sent. */
function fieldText(value: unknown): string {
  if (typeof value === "string") return /^[\w.:/@+-]+$/.test(value) ? value : escaped(JSON.stringify(value));
  // As in JSON, in a third of the time.
  return typeof value === "boolean" || Number.isFinite(value)
    ? String(value)
    : escaped(JSON.stringify(value) ?? String(value));
}
