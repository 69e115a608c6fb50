/** Signals as `serve` understands them. */

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
