/** What all processes of a server share of modules: how much is fetched and prepared at a time, and what lies in the download folder. */
import type { FolderBound, Stay } from "./folder-bound.js";
import { MAX_PARALLEL_DOWNLOADS, NAMESPACED_DOWNLOAD_BYTES, NAMESPACED_QUESTIONS, PREPARED_BYTES } from "./limits.js";
import { type Release, Room } from "./room.js";

/** Rooms that one process has for itself. */
export const OWN_ROOMS = {
  /** To ask about modules of policies in namespaces; others' have the second. */
  namespacedQuestions: NAMESPACED_QUESTIONS,
  questions: { total: MAX_PARALLEL_DOWNLOADS, share: MAX_PARALLEL_DOWNLOADS },
} as const;

/** Rooms that all processes have together. */
export const SHARED_ROOMS = {
  /** To fetch one address for one namespace, which are the owner: others find it in the folder then. */
  address: { total: Number.POSITIVE_INFINITY, share: 1 },
  namespacedDownloads: NAMESPACED_DOWNLOAD_BYTES,
  downloads: { total: MAX_PARALLEL_DOWNLOADS, share: MAX_PARALLEL_DOWNLOADS },
  /** To hold modules in memory. */
  memory: PREPARED_BYTES,
} as const;

/** Those of {@link OWN_ROOMS} and {@link SHARED_ROOMS}. */
export type RoomName = keyof typeof OWN_ROOMS | keyof typeof SHARED_ROOMS;

/** Asked before anything is fetched, kept or prepared. */
export interface ModuleShare {
  /** Resolves when there is room (`Room.enter`). */
  enter(room: RoomName, owner: string, weight: number): Promise<Release>;
  /** Keeps a file of the download folder from being removed. @param path absolute */
  pin(path: string): Promise<Release>;
  /** Makes room in the download folder for a file that is pinned. @returns whether it may lie there */
  place(path: string, bytes: number, stay: Stay): Promise<boolean>;
}

/** Rooms by their names. */
export class Rooms {
  readonly #rooms: ReadonlyMap<RoomName, Room>;

  constructor(bounds: Partial<Readonly<Record<RoomName, { readonly total: number; readonly share: number }>>>) {
    const entries = Object.entries(bounds).map(([name, { total, share }]) => [name, new Room(total, share)] as const);
    this.#rooms = new Map(entries as [RoomName, Room][]);
  }

  /** Undefined when the room is not one of these. */
  enter(room: RoomName, owner: string, weight: number): Promise<Release> | undefined {
    return this.#rooms.get(room)?.enter(owner, weight);
  }
}

/** For one process, and for others that ask it. */
export class LocalModuleShare implements ModuleShare {
  readonly #rooms = new Rooms({ ...OWN_ROOMS, ...SHARED_ROOMS });
  readonly #folder: FolderBound | undefined;

  /** @param folder what the download folder may hold; absent: anything, and nothing is removed from it */
  constructor(folder?: FolderBound) {
    this.#folder = folder;
  }

  enter(room: RoomName, owner: string, weight: number): Promise<Release> {
    return this.#rooms.enter(room, owner, weight) ?? Promise.resolve(() => {});
  }

  async pin(path: string): Promise<Release> {
    return this.#folder?.pin(path) ?? (() => {});
  }

  async place(path: string, bytes: number, stay: Stay): Promise<boolean> {
    return this.#folder === undefined || this.#folder.place(path, bytes, stay);
  }
}
