/**
 * Closes a server without losing a request. HTTP gives a client no way to know that the connection it is about to use is being closed,
 * so a connection that is closed at once may have a request on it: one that was accepted and not used yet, or one that is kept alive. Such are
 * left open for a moment longer: requests on them are answered with `Connection: close`. Only silent ones are closed, and first
 * only our side of them, as a socket that is closed with unread bytes resets the connection.
 */
import type http from "node:http";
import type { RequestListener } from "node:http";
import type https from "node:https";
import net from "node:net";
import { type After, afterTimeout } from "../data/clock.js";

/** Interval of checking connections. */
const SWEEP_MS = 50;
/** How long a connection has to stay silent: longer than the way of a request that was sent before the client could know. */
export const SILENT_MS = 300;
/** How long a client may take to close its side of a connection whose other side is closed. */
const HALF_CLOSED_MS = 500;
/** Time without a new connection after which accepting ends: a client that has just got an answer is back with one by then. */
const QUIET_MS = 25;
/** Most time of that: a flood of connections never ends. */
const ACCEPT_WITHIN_MS = 500;
/**
 * How long answers are held back after that: with several processes the listening socket is closed when the last of them, and the primary
 * that is told of it, have closed it; and an answer causes a new connection.
 */
const HOLD_MS = 100;

/** The time of a stop. */
export interface StopClock {
  /** Monotonic milliseconds. */
  now(): number;
  readonly after: After;
}

/** The machine's. */
export const STOP_CLOCK: StopClock = { now: () => performance.now(), after: afterTimeout };

interface Silence {
  readonly bytes: number;
  readonly since: number;
}

/** Tracks a server's connections, and closes them. */
export class Drain {
  readonly #server: http.Server | https.Server;
  readonly #clock: StopClock;
  /** Every connection, and with TLS the one beneath it, from the moment it is accepted. */
  readonly #open = new Set<net.Socket>();
  /** Every connection that can have requests. */
  readonly #connections = new Set<net.Socket>();
  readonly #handler: RequestListener;
  readonly #isBusy: (socket: net.Socket) => boolean;
  readonly #silent = new Map<net.Socket, Silence>();
  readonly #halfClosed = new Map<net.Socket, number>();
  #accepted = 0;
  /** Requests that wait until nothing is accepted any more; undefined except at that time. */
  #held: (() => void)[] | undefined;

  /**
   * @param handler answers the server's requests
   * @param isBusy whether a request on a connection has no answer yet
   * @param clock the time of silence and of the grace
   */
  constructor(
    server: http.Server | https.Server,
    handler: RequestListener,
    isBusy: (socket: net.Socket) => boolean,
    clock: StopClock = STOP_CLOCK,
  ) {
    this.#server = server;
    this.#handler = handler;
    this.#isBusy = isBusy;
    this.#clock = clock;
    const secure = "setSecureContext" in server;
    server.on("connection", (socket: net.Socket) => {
      this.#accepted += 1;
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
    // With TLS a connection counts from its handshake on; before, it can have no requests.
    server.on(secure ? "secureConnection" : "connection", (socket: net.Socket) => {
      this.#connections.add(socket);
      socket.once("close", () => this.#forget(socket));
    });
  }

  /** Answers a request now, or once nothing is accepted any more. */
  readonly answer: RequestListener = (request, response) => {
    if (this.#held === undefined) this.#handler(request, response);
    else this.#held.push(() => this.#handler(request, response));
  };

  /**
   * Stops accepting and closes connections as they fall silent; the rest is cut after `grace` milliseconds. Responses sent meanwhile must say
   * `Connection: close`. May be called again with less grace.
   */
  async close(grace: number): Promise<void> {
    const keepLeft = this.#clock.after(Math.max(grace, 0), () => this.#cut());
    if (grace > 0) await this.#acceptAll();
    const endSweeps = this.#sweepAgain();
    const closed = new Promise<void>((resolve) => {
      // The HTTP server's own `close` would close every connection that has no request on it now.
      net.Server.prototype.close.call(this.#server, () => resolve());
    });
    if (grace <= 0) this.#cut();
    else await this.#release();
    await closed;
    keepLeft();
    endSweeps();
    // Nothing is open any more; this ends the server's own timers.
    this.#server.close(() => {});
  }

  /**
   * Accepts all waiting connections, which are reset when the listening socket is closed. One is accepted in each poll phase of the event loop, and
   * this returns right after one without any, like those before it. A client that gets an answer meanwhile may come with a new connection,
   * so all answers are held back.
   */
  async #acceptAll(): Promise<void> {
    this.#held ??= [];
    const until = this.#clock.now() + ACCEPT_WITHIN_MS;
    let accepted = this.#accepted;
    let quietSince = this.#clock.now();
    while (this.#clock.now() < until && this.#clock.now() - quietSince < QUIET_MS) {
      await new Promise(setImmediate);
      if (this.#accepted === accepted) continue;
      accepted = this.#accepted;
      quietSince = this.#clock.now();
    }
  }

  async #release(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.after(HOLD_MS, resolve));
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const answer of held) answer();
  }

  /** Looks at connections again and again. @returns ends it */
  #sweepAgain(): () => void {
    let cancel = (): void => {};
    const later = (): void => {
      cancel = this.#clock.after(SWEEP_MS, () => {
        this.#sweep();
        later();
      });
    };
    later();
    return () => cancel();
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const socket of this.#connections) {
      const closed = this.#halfClosed.get(socket);
      if (closed !== undefined) {
        if (now - closed >= HALF_CLOSED_MS) socket.destroy();
        continue;
      }
      const bytes = socket.bytesRead;
      const silent = this.#silent.get(socket);
      if (this.#isBusy(socket) || silent === undefined || silent.bytes !== bytes) {
        this.#silent.set(socket, { bytes, since: now });
      } else if (now - silent.since >= SILENT_MS) {
        this.#halfClosed.set(socket, now);
        socket.end();
      }
    }
  }

  #cut(): void {
    this.#server.closeAllConnections();
    // The server does not know connections whose handshake never came.
    for (const socket of this.#open) socket.destroy();
  }

  #forget(socket: net.Socket): void {
    this.#connections.delete(socket);
    this.#silent.delete(socket);
    this.#halfClosed.delete(socket);
  }
}
