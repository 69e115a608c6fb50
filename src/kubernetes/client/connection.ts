/** What a connection shows and trusts at a moment; files may change it. */
export interface Identity {
  /** Value of the `Authorization` header. */
  readonly authorization?: string;
  /** Authorities of the server's certificate, PEM; absent: those that Node knows. */
  readonly ca?: string;
  /** Client certificate and key, PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** Where a connection has its identity from. */
export interface IdentitySource {
  /** @throws ClusterConfigError when files or plugins fail */
  identity(): Promise<Identity>;
  /** The server has refused the identity: make a new one. */
  refused(): void;
}

/** The way to an API server. */
export interface Connection extends IdentitySource {
  /** May have a path, which precedes every request's. */
  readonly server: URL;
  /** Name that the server's certificate must have, when it is not the host's. */
  readonly serverName?: string;
  /** The server's certificate is not checked. */
  readonly insecure: boolean;
  /** HTTP proxy on the way. */
  readonly proxy?: string;
  /** Sent with every request: impersonation. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Where this was found, for people. */
  readonly origin: string;
}
