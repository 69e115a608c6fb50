/** The layer between Node's server and the handlers: refuses invalid messages, and limits the time of each connection. */
import type http from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type https from "node:https";
import type { Socket } from "node:net";
import { announcesTooMuch } from "./body.js";
import { OneByOne, type OneByOneOptions } from "./one-by-one.js";
import type { PacedReading } from "./paced-reading.js";
import { sendProblem } from "./respond.js";
import { HEADERS_TIMEOUT_MS, headerProblem, readingProblem } from "./wire-problems.js";

/** Requests that may wait on a connection before it is read in turns: a client may have read an answer a moment before this process knows that it is sent. */
const MOST_WAITING = 1;
/** Requests that may wait on all connections before all are read in turns: each takes some 3 KB in Node. */
const MOST_WAITING_OF_ALL = 1024;
/** Bytes of an unwanted body from which on its connection is read in turns: smaller ones are soon over. */
const UNWANTED_BODY = 16 * 1024;

/** The status of a request that did not come in time. */
const REQUEST_TIMEOUT = 408;

/** Options of serving connections. */
export interface ConnectionOptions {
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
