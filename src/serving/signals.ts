/** Handles signals, unhandled rejections and exceptions for `serve`. */

import { say } from "../data/command-io.js";
import type { Logger } from "../telemetry/logger.js";

/** Resolves with the next SIGTERM or SIGINT. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve(signal);
    };
    process.on("SIGTERM", stop).on("SIGINT", stop);
  });
}

/** SIGHUP, whose default ends the process: handled from the start, even before anything can be reloaded, or where nothing ever can. */
export interface HangUps {
  /** Runs the work at every SIGHUP; at once if one has come already. */
  reload(work: () => void): void;
  /** Restores the default, which would cut requests under way: called at the very end. */
  stop(): void;
}

/** Listens for SIGHUP from now on. */
export function hangUps(): HangUps {
  let came = false;
  let work = (): void => {
    came = true;
  };
  const onHangUp = (): void => work();
  process.on("SIGHUP", onHangUp);
  return {
    reload: (reload) => {
      work = reload;
      if (came) work();
    },
    stop: () => process.off("SIGHUP", onHangUp),
  };
}

/** Time of serving after a signal: at a keyboard (SIGINT) there is no load balancer to wait for. */
export function delayFor(signal: NodeJS.Signals, configured: number): number {
  return signal === "SIGINT" ? 0 : configured;
}

/**
 * Keeps a defect from ending unrelated requests: an unhandled rejection is logged.
 * @returns removes the handler
 */
export function surviveRejections(logger: Logger): () => void {
  const onRejection = (reason: unknown): void => {
    logger.error("unhandled rejection", { error: reason instanceof Error ? reason.stack : String(reason) });
  };
  process.on("unhandledRejection", onRejection);
  return () => process.off("unhandledRejection", onRejection);
}

/** Node's own exit code after an uncaught exception. */
const EXCEPTION_EXIT_CODE = 1;

/**
 * Ends the process after an uncaught exception, as its state can't be trusted; its supervisor restarts it. The log gets the reason first.
 * @param stop stops answering at once and sends the rest of the log within a bounded time
 * @returns removes the handler
 */
export function endAfterException(logger: Logger, stop: () => Promise<void>): () => void {
  const onException = (error: unknown): void => {
    process.off("uncaughtException", onException);
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(process.stderr, text);
    logger.error("uncaught exception: this process ends", { error: text });
    void stop().finally(() => process.exit(EXCEPTION_EXIT_CODE));
  };
  process.on("uncaughtException", onException);
  return () => process.off("uncaughtException", onException);
}
