/**
 * Reads connections with many small pieces in turns, a bit at a time. Node passes on all bytes of one read of a socket, up to 64 KiB, before it does anything
 * else, and reads a socket that has more up to 32 times: by then ten thousand requests, or a body in three hundred thousand chunks of a byte, have had their
 * events. Node is faster without this code in between, by an eighth of a request of 1 KB, so connections are left to it until a client behaves as no API server
 * does.
 */
import type { Socket } from "node:net";

/** Line ends in the bytes that are passed on at once: a request has three at least, and a chunk two. */
const LINES_AT_ONCE = 16;
const LINE_FEED = 0x0a;
/** Milliseconds of a turn of the event loop that all paced connections may take together, and each of several. */
const TURN_MS = 5;
const EACH_MS = 1;
/**
 * Connections that may be put under control in one turn, each of which may have taken 15 to 30 ms of it: when there are more, others may be about to do the
 * same, and all are.
 */
const MOST_IN_A_TURN = 1;
/** How long new connections are put under control after that: connections that were opened for it come within seconds. */
const ALL_PACED_MS = 60_000;

/** Whether connections can be read. */
export interface ConnectionTurns {
  /** Whether the next bytes of a connection can be used now. */
  takes(socket: Socket): boolean;
  /** Calls back once that may have changed. */
  whenFree(socket: Socket, call: () => void): void;
}

/** A connection that is read in turns. */
interface Paced {
  readonly socket: Socket;
  readonly turns: ConnectionTurns;
  /** Node's own reader of requests. */
  readonly read: (bytes: Buffer) => void;
  /** Whether the bytes are back in the socket until it is the connection's turn. */
  isWaiting: boolean;
  /** Whether the next bytes have been waiting. */
  hasWaited: boolean;
  /** The turn in which it was last read, and the end of its part of that turn. */
  turn: number;
  ends: number;
}

/** The connections of a server. */
export class PacedReading {
  readonly #now: () => number;
  readonly #later: (run: () => void) => unknown;
  /** Open connections that Node reads. */
  readonly #others = new Map<Socket, ConnectionTurns>();
  /** Connections that wait with something new, and those that had a turn and have more: of the former one request is soon answered. */
  readonly #fresh: Paced[] = [];
  readonly #waiting: Paced[] = [];
  #turnNumber = 0;
  /** The end of this turn's time; `undefined` before any of it is used. */
  #ends: number | undefined;
  #begunInTurn = 0;
  #isScheduled = false;
  #isFreshNext = true;
  #allUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param now monotonic milliseconds
   * @param later runs a function in the next turn of the event loop
   */
  constructor(now = () => performance.now(), later: (run: () => void) => unknown = setImmediate) {
    this.#now = now;
    this.#later = later;
  }

  /** Adds a connection that Node has begun to read. */
  add(socket: Socket, turns: ConnectionTurns): void {
    this.#others.set(socket, turns);
    socket.once("close", () => this.#others.delete(socket));
    if (this.#now() < this.#allUntil) this.#begin(socket);
  }

  /** Reads a connection in turns, for as long as it is open. */
  readonly pace = (socket: Socket): void => {
    if (!this.#begin(socket)) return;
    this.#schedule();
    this.#begunInTurn += 1;
    if (this.#begunInTurn > MOST_IN_A_TURN) this.paceAll();
  };

  /** Reads all connections in turns, and those that come in the next minute. */
  paceAll(): void {
    this.#allUntil = this.#now() + ALL_PACED_MS;
    for (const socket of this.#others.keys()) this.#begin(socket);
  }

  /** @returns whether it was not read in turns before */
  #begin(socket: Socket): boolean {
    const turns = this.#others.get(socket);
    const [read, ...more] = socket.listeners("data");
    if (turns === undefined || read === undefined || more.length > 0) return false;
    this.#others.delete(socket);
    const paced: Paced = {
      socket,
      turns,
      read: read as Paced["read"],
      isWaiting: false,
      hasWaited: false,
      turn: -1,
      ends: 0,
    };
    // A listener of ours disables Node's short way from the system to its reader.
    socket.on("data", (bytes: Buffer) => this.#take(paced, bytes));
    socket.off("data", paced.read);
    return true;
  }

  #take(paced: Paced, bytes: Buffer): void {
    const { socket, turns } = paced;
    let rest = bytes;
    let now = this.#now();
    this.#ends ??= now + TURN_MS;
    if (paced.turn !== this.#turnNumber) {
      paced.turn = this.#turnNumber;
      const isAlone = this.#fresh.length + this.#waiting.length === 0;
      paced.ends = isAlone ? this.#ends : Math.min(this.#ends, now + EACH_MS);
    }
    for (; !paced.isWaiting && rest.length > 0 && now < paced.ends; now = this.#now()) {
      if (socket.isPaused() || !turns.takes(socket)) break;
      const end = endOfLines(rest);
      paced.read(rest.subarray(0, end));
      rest = rest.subarray(end);
      if (socket.destroyed) return;
    }
    this.#schedule();
    if (rest.length === 0) {
      paced.hasWaited = false;
      return;
    }
    // In this order: bytes that are put back into a flowing socket come at once.
    socket.pause();
    socket.unshift(rest);
    this.#wait(paced);
  }

  #wait(paced: Paced): void {
    if (paced.isWaiting) return;
    paced.isWaiting = true;
    const line = paced.hasWaited ? this.#waiting : this.#fresh;
    const join = (): void => {
      line.push(paced);
      this.#schedule();
    };
    if (paced.turns.takes(paced.socket)) join();
    else paced.turns.whenFree(paced.socket, join);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#later(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#ends = undefined;
    this.#begunInTurn = 0;
    this.#turnNumber += 1;
    this.#goOn();
  };

  /** Gives one connection its turn, and then the next one. */
  readonly #goOn = (): void => {
    if (this.#fresh.length + this.#waiting.length === 0) return;
    this.#schedule();
    const now = this.#now();
    this.#ends ??= now + TURN_MS;
    if (now >= this.#ends) return;
    // One of each in turn: neither queue waits for the other one's end.
    const lines = this.#isFreshNext ? [this.#fresh, this.#waiting] : [this.#waiting, this.#fresh];
    this.#isFreshNext = !this.#isFreshNext;
    // Behind one that has had its turn, all have.
    const paced = lines.find(([first]) => first !== undefined && first.turn !== this.#turnNumber)?.shift();
    if (paced === undefined) return;
    paced.isWaiting = false;
    paced.hasWaited = true;
    paced.socket.resume();
    // The bytes in the socket come before that.
    process.nextTick(this.#goOn);
  };
}

/** The place behind so many line ends, or the end. */
function endOfLines(bytes: Buffer): number {
  let at = -1;
  for (let lines = 0; lines < LINES_AT_ONCE; lines++) {
    at = bytes.indexOf(LINE_FEED, at + 1);
    if (at === -1) return bytes.length;
  }
  return at + 1;
}
