/** A program's own log in place of lines on a stream. */
import type { Logger, LogLevel, LogRecord } from "../telemetry/logger.js";

/** Gets each line. What it throws is dropped: a server goes on without its log. */
export type Log = (line: LogRecord) => void;

/** A logger that hands its records on; without `log` it is silent. */
export function loggerOf(log: Log | undefined, target = "policy_server"): Logger {
  const write = (level: LogLevel, message: string, fields?: LogRecord["fields"], traceparent?: string): void => {
    try {
      log?.({
        time: Date.now(),
        level,
        target,
        message,
        ...(fields && { fields }),
        ...(traceparent !== undefined && { traceparent }),
      });
    } catch {
      // There is nobody left to be told.
    }
  };
  const at = (level: LogLevel) => (message: string, fields?: LogRecord["fields"]) => write(level, message, fields);
  return {
    enabled: () => log !== undefined,
    log: write,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    named: (other) => loggerOf(log, other),
  };
}
