/** What a process that answers requests tells the primary. */
import type { ToPrimary } from "./messages.js";

/** Tells the primary why this process can't serve; resolves when it was told, or has gone. */
export function tellFailure(message: string): Promise<void> {
  return tellSurely({ type: "failed", message });
}

/** Lets go of the primary. It ends this process at once: what is left to say has been said. */
export function leavePrimary(): void {
  if (process.connected) process.disconnect();
}

/** Tells the primary; resolves when it was told, or has gone. */
export function tellSurely(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}

/** Tells the primary, if it is there. */
export function tell(message: ToPrimary): void {
  // A primary that has just died is noticed as such: without somebody who takes the failure it ends this process before it could stop in order.
  if (process.connected) process.send?.(message, () => {});
}
