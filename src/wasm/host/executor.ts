/** What may stand between the gates and a capability. */

/** A call that has passed the gates, its payload read. */
export interface HostCallPayload {
  readonly namespace: string;
  readonly operation: string;
  readonly payload: unknown;
}

/**
 * Stands between the gates and the capability: records or replays (spec kubewarden.md 10.2).
 * @param run the capability itself
 */
export type Executor = (call: HostCallPayload, run: () => Promise<unknown>) => Promise<unknown>;
