/** Recording and replaying between the gates and a capability. */

/** A call that has passed the gates, its payload parsed. */
export interface HostCallPayload {
  readonly namespace: string;
  readonly operation: string;
  readonly payload: unknown;
}

/**
 * Runs in place of the capability, to record or replay (spec kubewarden.md 10.2).
 * @param run the capability itself
 */
export type Executor = (call: HostCallPayload, run: () => Promise<unknown>) => Promise<unknown>;
