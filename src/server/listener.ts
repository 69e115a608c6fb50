/** A listening HTTP(S) server with limits that keep slow, idle and flooding clients from costing more than others, and a way to stop. */

import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { PeerCertificate, TLSSocket, TlsOptions } from "node:tls";
import { unknownClient } from "../admission/request-problem.js";
import type { Logger } from "../telemetry/logger.js";
import { announcesTooMuch } from "./body.js";
import { Drain, type StopClock } from "./drain.js";
import { OneByOne, type OneByOneOptions } from "./one-by-one.js";
import { PacedReading } from "./paced-reading.js";
import { sendProblem } from "./respond.js";
import {
  HEADERS_TIMEOUT_MS,
  headerProblem,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
  readingProblem,
} from "./wire-problems.js";

// The layer between Node's server and the handlers: refuses invalid messages, and limits the time of each connection.

/** Requests that may wait on a connection before it is read in turns: a client may have read an answer a moment before this process knows that it is sent. */
const MOST_WAITING = 1;
/** Requests that may wait on all connections before all are read in turns: each takes some 3 KB in Node. */
const MOST_WAITING_OF_ALL = 1024;
/** Bytes of an unwanted body from which on its connection is read in turns: smaller ones are soon over. */
const UNWANTED_BODY = 16 * 1024;

/** The status of a request that did not come in time. */
const REQUEST_TIMEOUT = 408;

/** Options of serving connections. */
interface ConnectionOptions {
  readonly handler: RequestListener;
  readonly reading: PacedReading;
  /** Most bytes of a body: a client that asks before sending a longer one is not told to continue. */
  readonly bodyLimit: number;
  /** Runs a function after so many milliseconds. */
  readonly after?: OneByOneOptions["after"];
}

/** Serves the requests on a server's connections. */
export function serveConnections(
  server: http.Server | https.Server,
  { handler, reading, bodyLimit, after }: ConnectionOptions,
): OneByOne {
  const turns = new OneByOne({
    handler: (request, response) => {
      const problem = headerProblem(request);
      if (problem === undefined) handler(request, response);
      else sendProblem(request, response, problem);
    },
    crowded: (socket, waiting, ofAll) => {
      if (waiting > MOST_WAITING) reading.pace(socket);
      if (ofAll > MOST_WAITING_OF_ALL) reading.paceAll();
    },
    ...(after && { after }),
  });
  server.on("setSecureContext" in server ? "secureConnection" : "connection", (socket: Socket) =>
    reading.add(socket, turns),
  );
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket, headers } = request;
    // API servers announce the length of a body.
    if (headers["transfer-encoding"] !== undefined) reading.pace(socket);
    else if (Number(headers["content-length"]) > UNWANTED_BODY)
      response.once("finish", () => {
        if (!request.complete && !socket.writableEnded) reading.pace(socket);
      });
    turns.take(request, response);
  });
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (headerProblem(request) === undefined && !announcesTooMuch(request, bodyLimit)) response.writeContinue();
    server.emit("request", request, response);
  });
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const problem = readingProblem(error);
    if (problem === undefined) socket.destroy();
    else if (problem.status === REQUEST_TIMEOUT) turns.late(socket, problem, HEADERS_TIMEOUT_MS);
    else turns.broken(socket, problem);
  });
  return turns;
}

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
