/** The credentials and trust of a connection at a moment; files may change them. */
export interface Identity {
  /** Value of the `Authorization` header. */
  readonly authorization?: string;
  /** Authorities of the server's certificate, PEM; absent: those that Node knows. */
  readonly ca?: string;
  /** Client certificate and key, PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** The source of a connection's identity. */
export interface IdentitySource {
  /** @throws ClusterConfigError when files or plugins fail */
  identity(): Promise<Identity>;
  /** Must be called when the server has refused the identity: a new one is made. */
  refused(): void;
}

/** The address of an API server, with everything needed to reach it. */
export interface Connection extends IdentitySource {
  /** The server's URL. Its path, if any, precedes every request's. */
  readonly server: URL;
  /** Name that the server's certificate must have, when it is not the host's. */
  readonly serverName?: string;
  /** Whether the server's certificate is not checked. */
  readonly insecure: boolean;
  /** HTTP proxy on the way. */
  readonly proxy?: string;
  /** Sent with every request: impersonation. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The source of this connection, for people. */
  readonly origin: string;
}
