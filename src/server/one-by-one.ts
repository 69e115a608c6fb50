/**
 * Handles the requests of a connection one after the other. HTTP lets a client send the next ones before it has an answer: thousands in one packet. Answered as
 * they come, they would be answered before those of any other connection; so the next one is handled when the last has its answer, and not before the next turn
 * of the event loop. A client that sends one at a time never waits.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { RequestProblem } from "../admission/request-problem.js";
import { SLICE_MS } from "../policy/turns.js";
import { sendProblem, writeLast } from "./respond.js";

/** A request, and a problem with which it is answered instead of being handled; without a response it could not be read at all. */
interface Exchange {
  readonly request?: IncomingMessage;
  readonly response?: ServerResponse;
  problem?: RequestProblem;
}

/** The requests of a connection. */
interface Line {
  readonly socket: Socket;
  request: IncomingMessage;
  response: ServerResponse;
  /** The following ones, in order. */
  waiting: Exchange[];
  /** Whether the last bytes could not be read: then nothing after them can be. */
  isBroken: boolean;
}

/** Options and callbacks. */
export interface OneByOneOptions {
  readonly handler: RequestListener;
  /** Called at each request that has to wait, with the connection's number of them. */
  readonly crowded?: (socket: Socket, waiting: number, ofAll: number) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Runs a function in the next turn of the event loop. */
  readonly later?: (run: () => void) => unknown;
  /** Runs a function after so many milliseconds. */
  readonly after?: (run: () => void, milliseconds: number) => unknown;
}

/** Passes the requests of each connection on, one at a time. */
export class OneByOne {
  readonly #handler: RequestListener;
  readonly #crowded: NonNullable<OneByOneOptions["crowded"]>;
  readonly #now: () => number;
  readonly #later: (run: () => void) => unknown;
  readonly #after: (run: () => void, milliseconds: number) => unknown;
  readonly #lines = new WeakMap<Socket, Line>();
  /** Connections whose last answer is sent. */
  #due: Line[] = [];
  /** Number of waiting requests of all connections. */
  #waiting = 0;

  constructor({
    handler,
    crowded = () => {},
    now = () => performance.now(),
    later = setImmediate,
    after = (run, milliseconds) => setTimeout(run, milliseconds).unref(),
  }: OneByOneOptions) {
    this.#handler = handler;
    this.#crowded = crowded;
    this.#now = now;
    this.#later = later;
    this.#after = after;
  }

  /** Whether a request on the connection has no answer yet. */
  isBusy(socket: Socket): boolean {
    const line = this.#lines.get(socket);
    return line !== undefined && (line.waiting.length > 0 || isUnderWay(line.response));
  }

  /** Whether the next bytes of the connection belong to a request that is being answered, or begin the next one: others would only wait. */
  takes(socket: Socket): boolean {
    const line = this.#lines.get(socket);
    if (line === undefined) return true;
    return line.waiting.length === 0 && (!isUnderWay(line.response) || !line.request.complete);
  }

  /** Calls back once an answer is sent, when {@link takes} may have changed. */
  whenFree(socket: Socket, call: () => void): void {
    const response = this.#lines.get(socket)?.response;
    if (response === undefined || response.closed) this.#later(call);
    else response.once("close", call);
  }

  /** Takes a request. */
  readonly take: RequestListener = (request, response) => {
    const { socket } = request;
    const line = this.#lines.get(socket);
    if (line === undefined) this.#lines.set(socket, { socket, request, response, waiting: [], isBroken: false });
    else if (line.waiting.length > 0 || isUnderWay(line.response)) {
      this.#wait(line, { request, response });
      this.#crowded(socket, line.waiting.length, this.#waiting);
      return;
    } else {
      line.request = request;
      line.response = response;
    }
    this.#handler(request, response);
  };

  /** Handles bytes of a connection that could not be read: they are answered in their place, behind the answers to earlier requests, and the connection closes. */
  broken(socket: Socket, problem: RequestProblem): void {
    const line = this.#lines.get(socket);
    if (line === undefined) {
      writeLast(socket, problem);
      return;
    }
    // Each further piece is unreadable, too.
    if (line.isBroken) return;
    line.isBroken = true;
    const last: Exchange = line.waiting.at(-1) ?? line;
    if (last.request?.complete === false && isUnderWay(last.response)) {
      if (last !== line) last.problem = problem;
      // The problem of its headers is answered already, or the answer is under way.
      else if (line.response.headersSent) line.response.once("close", () => socket.destroy());
      else sendProblem(line.request, line.response, problem);
    } else if (this.isBusy(socket)) this.#wait(line, { problem });
    else writeLast(socket, problem);
  }

  /**
   * Handles a request that did not come in time. Behind others, where it is not read on, that is not its client's fault: then it gets as much time again.
   * @param milliseconds for the missing part
   */
  late(socket: Socket, problem: RequestProblem, milliseconds: number): void {
    const line = this.#lines.get(socket);
    if (line === undefined || this.takes(socket)) {
      this.broken(socket, problem);
      return;
    }
    const last = line.waiting.at(-1)?.request ?? line.request;
    // A request whose headers have come lacks its end; else the next one lacks its beginning.
    const isMissing = last.complete ? () => line.request === last : () => !last.complete;
    const wait = (): void => {
      if (socket.destroyed) return;
      if (!this.takes(socket)) this.whenFree(socket, wait);
      else
        this.#after(() => {
          if (isMissing()) this.broken(socket, problem);
        }, milliseconds);
    };
    wait();
  }

  #wait(line: Line, exchange: Exchange): void {
    line.waiting.push(exchange);
    this.#waiting += 1;
    if (line.waiting.length === 1) this.#follow(line);
  }

  #follow(line: Line): void {
    const free = (): void => {
      this.#due.push(line);
      if (this.#due.length === 1) this.#later(this.#goOn);
    };
    if (line.response.closed) free();
    else line.response.once("close", free);
  }

  readonly #goOn = (): void => {
    const due = this.#due;
    this.#due = [];
    const ends = this.#now() + SLICE_MS;
    for (const [index, line] of due.entries()) {
      this.#next(line);
      if (this.#now() < ends || index === due.length - 1) continue;
      this.#due = [...due.slice(index + 1), ...this.#due];
      break;
    }
    if (this.#due.length > 0) this.#later(this.#goOn);
  };

  #next(line: Line): void {
    // The last answer may have been the last of the connection.
    const { socket } = line;
    if (socket.destroyed || socket.writableEnded) {
      this.#waiting -= line.waiting.length;
      line.waiting = [];
      return;
    }
    const next = line.waiting.shift();
    if (next === undefined) return;
    this.#waiting -= 1;
    const { request, response, problem } = next;
    if (request === undefined || response === undefined) {
      if (problem !== undefined) writeLast(socket, problem);
      return;
    }
    line.request = request;
    line.response = response;
    if (problem === undefined) this.#handler(request, response);
    else sendProblem(request, response, problem);
    if (line.waiting.length > 0) this.#follow(line);
  }
}

const isUnderWay = (response: ServerResponse | undefined): boolean =>
  response !== undefined && !response.writableFinished && !response.destroyed;
