/** Signals and stray rejections as `serve` understands them. */
import type { Logger } from "../../telemetry/logger.js";

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

/** How long to go on serving after a signal: nobody at a keyboard waits for load balancers. */
export function delayFor(signal: NodeJS.Signals, configured: number): number {
  return signal === "SIGINT" ? 0 : configured;
}

/**
 * Keeps a defect from taking down requests that have nothing to do with it: a promise that nobody waits for is logged. An exception that nobody
 * catches still ends the process, as its state can't be trusted; it is restarted by whoever started it.
 * @returns takes the handler away again
 */
export function surviveRejections(logger: Logger): () => void {
  const onRejection = (reason: unknown): void => {
    logger.error("unhandled rejection", { error: reason instanceof Error ? reason.stack : String(reason) });
  };
  process.on("unhandledRejection", onRejection);
  return () => process.off("unhandledRejection", onRejection);
}
