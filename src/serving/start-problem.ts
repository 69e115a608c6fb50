/** Messages for a server that does not start, with the remedy. */
import type { ServeSettings } from "./settings.js";

/** The reason why the process can't serve; for the user. */
export class StartError extends Error {
  readonly code = "START";
}

/** The system's error for a port that is not available. */
interface ListenError extends Error {
  readonly code: string;
  readonly port?: number;
}

const isListenError = (error: unknown): error is ListenError =>
  error instanceof Error && "code" in error && "syscall" in error && /^(?:listen|bind)$/.test(String(error.syscall));

/** The message of an error that ends the start. For a port it names the option that has set it. */
export function startProblem(
  error: unknown,
  { address, port, readinessPort }: Pick<ServeSettings, "address" | "port" | "readinessPort">,
): string {
  if (!isListenError(error)) return error instanceof Error ? error.message : String(error);
  const option = error.port === readinessPort && error.port !== port ? "--readiness-probe-port" : "--port";
  switch (error.code) {
    case "EADDRINUSE":
      return port === readinessPort
        ? `--port and --readiness-probe-port are both ${port}: each needs one of its own`
        : `port ${error.port} of ${address} is in use by another process: stop that, or give another one with ${option}`;
    case "EACCES":
      return `port ${error.port} is not for this account: give one above 1023 with ${option}`;
    case "EADDRNOTAVAIL":
      return `${address} is not an address of this machine: give one that is with --addr, or 0.0.0.0 for all of them`;
    default:
      return error.message;
  }
}
