/** The share of modules of a process that another one keeps: the two talk by messages. */
import type { Stay } from "./folder-bound.js";
import { type ModuleShare, OWN_ROOMS, type RoomName, Rooms } from "./module-share.js";
import type { Release } from "./room.js";

/** What is asked for; it is given back by its number. */
type Wanted =
  | { readonly kind: "room"; readonly room: RoomName; readonly owner: string; readonly weight: number }
  | { readonly kind: "pin"; readonly path: string }
  | { readonly kind: "place"; readonly path: string; readonly bytes: number; readonly stay: Stay };

/** To the process that keeps it. */
export type ToShareKeeper =
  | { readonly id: number; readonly wanted: Wanted }
  /** What was given is given back. */
  | { readonly id: number; readonly wanted?: undefined };

/** From it: what was wanted is given, or granted. */
export interface FromShareKeeper {
  readonly id: number;
  readonly granted: boolean;
}

/** The way to the process that keeps it. */
export interface ShareChannel {
  send(message: ToShareKeeper): void;
  listen(hear: (message: FromShareKeeper) => void): void;
}

/** For a process that shares with others. Without the keeper nothing is given any more: this process is about to end as well. */
export class DistantModuleShare implements ModuleShare {
  readonly #channel: ShareChannel;
  readonly #own = new Rooms(OWN_ROOMS);
  readonly #asked = new Map<number, (granted: boolean) => void>();
  #last = 0;

  constructor(channel: ShareChannel) {
    this.#channel = channel;
    channel.listen(({ id, granted }) => {
      this.#asked.get(id)?.(granted);
      this.#asked.delete(id);
    });
  }

  enter(room: RoomName, owner: string, weight: number): Promise<Release> {
    return this.#own.enter(room, owner, weight) ?? this.#take({ kind: "room", room, owner, weight });
  }

  pin(path: string): Promise<Release> {
    return this.#take({ kind: "pin", path });
  }

  async place(path: string, bytes: number, stay: Stay): Promise<boolean> {
    const { granted } = await this.#ask({ kind: "place", path, bytes, stay });
    return granted;
  }

  async #take(wanted: Wanted): Promise<Release> {
    const { id } = await this.#ask(wanted);
    return () => this.#channel.send({ id });
  }

  #ask(wanted: Wanted): Promise<FromShareKeeper> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      this.#asked.set(id, (granted) => resolve({ id, granted }));
      this.#channel.send({ id, wanted });
    });
  }
}

/** Keeps the share for one other process. */
export class KeptShare {
  readonly #share: ModuleShare;
  readonly #send: (message: FromShareKeeper) => void;
  readonly #given = new Map<number, Release>();
  #ended = false;

  constructor(share: ModuleShare, send: (message: FromShareKeeper) => void) {
    this.#share = share;
    this.#send = send;
  }

  /** What the other process says. */
  async hear({ id, wanted }: ToShareKeeper): Promise<void> {
    if (wanted === undefined) {
      this.#given.get(id)?.();
      this.#given.delete(id);
      return;
    }
    const given = await this.#give(wanted);
    if (typeof given !== "boolean") {
      if (this.#ended) given();
      else this.#given.set(id, given);
    }
    if (!this.#ended) this.#send({ id, granted: given !== false });
  }

  /** The other process has ended: all that it had is given back. */
  end(): void {
    this.#ended = true;
    for (const release of this.#given.values()) release();
    this.#given.clear();
  }

  #give(wanted: Wanted): Promise<Release | boolean> {
    switch (wanted.kind) {
      case "room":
        return this.#share.enter(wanted.room, wanted.owner, wanted.weight);
      case "pin":
        return this.#share.pin(wanted.path);
      case "place":
        return this.#share.place(wanted.path, wanted.bytes, wanted.stay);
    }
  }
}
