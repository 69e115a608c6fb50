/** A listening HTTP(S) server with limits that keep slow, idle and flooding clients from costing more than others, and a way to stop. */
import http, { type RequestListener } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { PeerCertificate, TLSSocket, TlsOptions } from "node:tls";
import { Drain } from "./drain.js";

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
  /** With client certificates: names of which a certificate must have one; absent: any certificate of the authorities will do. */
  readonly clientNames?: readonly string[];
  readonly handler: RequestListener;
}

/** A server that accepts connections. */
export interface Listener {
  readonly port: number;
  /** Uses new certificates for new connections. */
  secure(tls: TlsOptions): void;
  /**
   * Stops accepting, closes silent connections, lets requests under way finish for at most `grace` milliseconds, then closes what is left.
   * Responses sent meanwhile must say `Connection: close`.
   */
  close(grace: number): Promise<void>;
}

/** Listens. Rejects with the system's error when the address or port can't be had. */
export async function listen({ address, port, tls, clientNames, handler }: ListenerOptions): Promise<Listener> {
  const limits: http.ServerOptions = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
  };
  const server = tls === undefined ? http.createServer(limits) : https.createServer({ ...limits, ...tls });
  if (clientNames !== undefined && clientNames.length > 0) {
    server.on("secureConnection", (socket: TLSSocket) => {
      if (!namesOf(socket.getPeerCertificate()).some((name) => clientNames.includes(name))) socket.destroy();
    });
  }
  const drain = new Drain(server, handler);
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
    close: (grace) => drain.close(grace),
  };
}

/** The names a client's certificate stands for: its common name, and its alternative names of whatever type. */
function namesOf({ subject, subjectaltname }: Partial<PeerCertificate>): string[] {
  const alternatives = subjectaltname?.split(", ").map((entry) => entry.slice(entry.indexOf(":") + 1)) ?? [];
  return subject?.CN === undefined ? alternatives : [...[subject.CN].flat(), ...alternatives];
}
