/** A listening HTTP(S) server with limits that keep slow, idle and flooding clients from costing more than others, and a way to stop. */
import http, { type RequestListener } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { TlsOptions } from "node:tls";

/** Time for the headers of a request: a client that is slower is no API server. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Time for a whole request, body included: as long as a webhook call may take at all. */
const REQUEST_TIMEOUT_MS = 30_000;
/** The API server closes idle connections after 90 s; whoever closes first must not be we, or a request is lost on the way. */
const KEEP_ALIVE_MS = 120_000;
/** How often the limits above are looked at. */
const CHECK_INTERVAL_MS = 1000;
/** Real headers need less than 2 KiB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Connections at a time; a cluster's API servers need a few dozen. */
const MAX_CONNECTIONS = 8192;

/** Where to listen and how. */
export interface ListenerOptions {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Absent for plain HTTP. */
  readonly tls?: TlsOptions;
  /** Several processes may listen on the same port; each needs a listener of its own. */
  readonly handler: RequestListener;
}

/** A server that accepts connections. */
export interface Listener {
  readonly port: number;
  /** Uses new certificates for new connections. */
  secure(tls: TlsOptions): void;
  /**
   * Stops accepting, closes idle connections, lets requests under way finish for at most `grace` milliseconds, then closes what is left.
   * Responses sent meanwhile must say `Connection: close`.
   */
  close(grace: number): Promise<void>;
}

/** Listens. Rejects with the system's error when the address or port can't be had. */
export async function listen({ address, port, tls, handler }: ListenerOptions): Promise<Listener> {
  const limits: http.ServerOptions = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
  };
  const server =
    tls === undefined ? http.createServer(limits, handler) : https.createServer({ ...limits, ...tls }, handler);
  server.maxConnections = MAX_CONNECTIONS;
  // Somebody who asks and never reads the answer.
  server.timeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // Running out of file descriptors is reported here; connections wait in the kernel until there are some again.
  server.on("error", () => {});
  const bound = server.address() as AddressInfo;
  return {
    port: bound.port,
    secure: (options) => {
      if (server instanceof https.Server) server.setSecureContext(options);
    },
    close: (grace) => close(server, grace),
  };
}

/** Connections that fall idle while others finish are closed this often. */
const IDLE_SWEEP_MS = 50;

function close(server: http.Server | https.Server, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), grace);
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
    if (grace <= 0) server.closeAllConnections();
    else server.closeIdleConnections();
  });
}
