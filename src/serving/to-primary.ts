/** Messages of a serving process to the primary. */
import type { ToPrimary } from "./messages.js";

/** Sends the primary the reason why this process can't serve; resolves when it was sent, or the primary has ended. */
export function tellFailure(message: string): Promise<void> {
  return tellSurely({ type: "failed", message });
}

/** Disconnects from the primary, which ends this process at once: all messages must have been sent. */
export function leavePrimary(): void {
  if (process.connected) process.disconnect();
}

/** Sends a message to the primary; resolves when it was sent, or the primary has ended. */
export function tellSurely(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}

/** Sends a message to the primary, if it runs. */
export function tell(message: ToPrimary): void {
  // The end of the primary is noticed separately: without a callback the failure would end this process before an orderly stop.
  if (process.connected) process.send?.(message, () => {});
}
