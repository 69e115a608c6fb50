/** A listening HTTP(S) server with limits that keep slow, idle and flooding clients from costing more than others, and a way to stop. */
import http, { type RequestListener } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { PeerCertificate, TLSSocket, TlsOptions } from "node:tls";
import { unknownClient } from "../admission/request-problem.js";
import type { Logger } from "../telemetry/logger.js";
import { serveConnections } from "./connections.js";
import { Drain, type StopClock } from "./drain.js";
import type { OneByOne } from "./one-by-one.js";
import { PacedReading } from "./paced-reading.js";
import { sendProblem } from "./respond.js";
import { HEADERS_TIMEOUT_MS, MAX_HEADER_BYTES, REQUEST_TIMEOUT_MS } from "./wire-problems.js";

/** How long idle connections stay open: the API server closes them after 90 s; if we closed them first, a request could be lost. */
const KEEP_ALIVE_MS = 120_000;
/** Interval of checking the limits above. */
const CHECK_INTERVAL_MS = 1000;
/** Most connections at a time; a cluster's API servers need a few dozen. */
const MAX_CONNECTIONS = 8192;

/** Options of a listener. */
export interface ListenerOptions {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Absent for plain HTTP. */
  readonly tls?: TlsOptions;
  /** With client certificates: names of which a certificate must have one; absent: any certificate of the authorities is accepted. */
  readonly clientNames?: readonly string[];
  readonly handler: RequestListener;
  /** Most bytes of a body: a client that asks before sending a longer one (`Expect: 100-continue`) is not told to continue. */
  readonly bodyLimit?: number;
  readonly logger?: Logger;
  /** Reads connections with many small pieces in turns; default one of this port's own. */
  readonly reading?: PacedReading;
  /** Most connections at a time; never more than {@link MAX_CONNECTIONS}. */
  readonly maxConnections?: number;
  /** Default: the machine's. */
  readonly clock?: StopClock;
}

/** A server that accepts connections. */
export interface Listener {
  readonly port: number;
  /** Uses new certificates for new connections. */
  secure(tls: TlsOptions): void;
  /**
   * Stops accepting, closes silent connections, lets requests under way finish for at most `grace` milliseconds, then cuts the rest.
   * Responses sent meanwhile must say `Connection: close`.
   */
  close(grace: number): Promise<void>;
}

/** Listens. Rejects with the system's error when the address or port is not available. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const {
    address,
    port,
    tls,
    clientNames,
    handler,
    logger,
    maxConnections = MAX_CONNECTIONS,
    bodyLimit = Number.POSITIVE_INFINITY,
  } = options;
  const limits: http.ServerOptions = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // It is checked together with the other headers, so that its absence gets a reason.
    requireHostHeader: false,
    noDelay: true,
  };
  const server =
    tls === undefined
      ? http.createServer(limits)
      : https.createServer({ ...limits, handshakeTimeout: HEADERS_TIMEOUT_MS, ...tls });
  const admitted = clientNames === undefined || clientNames.length === 0 ? handler : onlyNamed(server, options);
  const turns: OneByOne = serveConnections(server, {
    handler: (request, response) => drain.answer(request, response),
    reading: options.reading ?? new PacedReading(),
    bodyLimit,
  });
  const drain = new Drain(server, admitted, (socket) => turns.isBusy(socket), options.clock);
  server.maxConnections = Math.min(maxConnections, MAX_CONNECTIONS);
  // A client that sends a request and never reads the answer.
  server.timeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // Running out of file descriptors is reported here; connections wait in the kernel until there are some again.
  const tell = acceptFailures(logger);
  server.on("error", (error: NodeJS.ErrnoException) => tell(reasonOf(error)));
  server.on("drop", () => tell(`${server.maxConnections} are open, and there is room for no more`));
  const bound = server.address() as AddressInfo;
  return {
    port: bound.port,
    secure: (material) => {
      if (server instanceof https.Server) server.setSecureContext(material);
    },
    close: (grace) => drain.close(grace),
  };
}

/**
 * Answers only clients whose certificate has one of the names. Others get 403 and the reason: with a broken connection their
 * operators would have to guess.
 */
function onlyNamed(
  server: http.Server | https.Server,
  { clientNames = [], handler, logger }: ListenerOptions,
): RequestListener {
  const refused = new WeakMap<object, readonly string[]>();
  server.on("secureConnection", (socket: TLSSocket) => {
    const names = namesOf(socket.getPeerCertificate());
    if (names.some((name) => clientNames.includes(name))) return;
    refused.set(socket, names);
    logger?.warn("a client certificate was refused: it has none of the allowed names", {
      names: names.slice(0, SHOWN_NAMES),
      address: socket.remoteAddress,
    });
  });
  return (request, response) => {
    const names = refused.get(request.socket);
    if (names === undefined) handler(request, response);
    else sendProblem(request, response, unknownClient(whoIs(names)));
  };
}

/** Most names of a refused certificate that are shown and logged. */
const SHOWN_NAMES = 10;
/** Longest name that is shown whole: that of a DNS name. */
const SHOWN_NAME_LENGTH = 253;

function whoIs(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).map((name) => JSON.stringify(name.slice(0, SHOWN_NAME_LENGTH)));
  return shown.length === 0 ? "has no name" : `is for ${shown.join(", ")}`;
}

/** The names in a client's certificate: its common name, and its alternative names of whatever type. */
function namesOf({ subject, subjectaltname }: Partial<PeerCertificate>): string[] {
  const alternatives = subjectaltname?.split(", ").map((entry) => entry.slice(entry.indexOf(":") + 1)) ?? [];
  return subject?.CN === undefined ? alternatives : [...[subject.CN].flat(), ...alternatives];
}

/** Interval of log lines about connections that can't be accepted: every one of them fails while there is no file descriptor. */
const TELL_AGAIN_MS = 10_000;

/** Logs that connections can't be accepted, and why, at intervals. */
function acceptFailures(
  logger: Logger | undefined,
  now: () => number = () => performance.now(),
): (reason: string) => void {
  let told = Number.NEGATIVE_INFINITY;
  return (reason) => {
    if (now() - told < TELL_AGAIN_MS) return;
    told = now();
    logger?.error(`connections can't be accepted: ${reason}`);
  };
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === "EMFILE" || code === "ENFILE"
    ? "too many files are open; raise the limit (ulimit -n) or have fewer connections"
    : message;
}
