/** The replicas of this server, as their Leases tell it. */

/** A live replica. */
export interface ReplicaInfo {
  readonly name: string;
  /** Of each path that webhooks may ask it at: the first 8 hexadecimal digits of its SHA-256. */
  readonly routes: ReadonlySet<string>;
  /** What else it says of itself, by the key under which it was announced. */
  readonly facts: Readonly<Record<string, string>>;
}

/** Who is there, and what this replica tells the others. */
export interface Replicas {
  /** Those whose Leases are fresh, this one among them, by name. */
  readonly live: readonly ReplicaInfo[];
  /**
   * Calls when any of that has changed.
   * @returns takes it back
   */
  changed(call: () => void): () => void;
  /** Says something of this replica, until it says otherwise: its Lease's annotation `policy-server.admission/<key>`. */
  announce(key: string, value: string): void;
}

/** The fact in which a replica says what keeps it from serving all that the cluster holds; absent or empty: nothing does. */
export const HINDERED = "hindered";

/** A replica with what hinders it: `web-1 (not read yet: …)`. */
export const shownReplica = ({ name, facts }: Pick<ReplicaInfo, "name" | "facts">): string =>
  facts[HINDERED] ? `${name} (${facts[HINDERED]})` : name;
