/** Passes log records to a program. */
import type { Logger, LogLevel, LogRecord } from "../telemetry/logger.js";

/** Receives each line. Errors that it throws are ignored: a server continues without its log. */
export type Log = (line: LogRecord) => void;

/** A logger that passes its records on; without `log` it is silent. */
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
      // The log itself has failed: there is no place left to report it.
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
