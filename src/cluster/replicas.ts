/** The replicas of this server, known by their Leases. */

/** A live replica. */
export interface ReplicaInfo {
  readonly name: string;
  /** For each path at which it answers webhooks: the first 8 hexadecimal digits of its SHA-256. */
  readonly routes: ReadonlySet<string>;
  /** Its other facts, by the key under which they were announced. */
  readonly facts: Readonly<Record<string, string>>;
}

/** The live replicas, and the announcements of this one. */
export interface Replicas {
  /** The replicas with fresh Leases, this one among them, by name. */
  readonly live: readonly ReplicaInfo[];
  /**
   * Calls back when any of that has changed.
   * @returns removes the callback
   */
  changed(call: () => void): () => void;
  /** Milliseconds since 1970 by the API server's clock, as far as the last renewal of this replica's Lease tells. */
  serverWall(): number;
  /** Announces a fact of this replica, until it is replaced: its Lease's annotation `policy-server.admission/<key>`. */
  announce(key: string, value: string): void;
}

/** The fact in which a replica gives the reason why it does not serve all policies of the cluster; absent or empty: none. */
export const HINDERED = "hindered";

/** A replica with its reason: `web-1 (not read yet: …)`. */
export const shownReplica = ({ name, facts }: Pick<ReplicaInfo, "name" | "facts">): string =>
  facts[HINDERED] ? `${name} (${facts[HINDERED]})` : name;
