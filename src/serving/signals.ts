/** Signals, stray rejections and exceptions as `serve` understands them. */

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

/** SIGHUP, whose default ends the process: heard from the first moment, even while there is nothing yet, or never, that could reload. */
export interface HangUps {
  /** What every SIGHUP sets off; one that has come already sets it off now. */
  reload(work: () => void): void;
  /** Back to the default, which would cut what is still under way: to be called at the very end. */
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

/** How long to go on serving after a signal: nobody at a keyboard waits for load balancers. */
export function delayFor(signal: NodeJS.Signals, configured: number): number {
  return signal === "SIGINT" ? 0 : configured;
}

/**
 * Keeps a defect from taking down requests that have nothing to do with it: a promise that nobody waits for is logged.
 * @returns takes the handler away again
 */
export function surviveRejections(logger: Logger): () => void {
  const onRejection = (reason: unknown): void => {
    logger.error("unhandled rejection", { error: reason instanceof Error ? reason.stack : String(reason) });
  };
  process.on("unhandledRejection", onRejection);
  return () => process.off("unhandledRejection", onRejection);
}

/** What Node itself ends with after an exception that nobody catches. */
const EXCEPTION_EXIT_CODE = 1;

/**
 * An exception that nobody catches ends the process, as its state can't be trusted; it is restarted by whoever started it. Not before the log
 * tells why, though.
 * @param stop stops answering at once and sends what is left of the log within a bounded time
 * @returns takes the handler away again
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
