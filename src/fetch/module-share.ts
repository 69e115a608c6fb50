/** What all processes of a server share of modules: how much is fetched and prepared at a time, and what lies in the download folder. */
import { MAX_PARALLEL_DOWNLOADS, NAMESPACED_DOWNLOAD_BYTES, NAMESPACED_QUESTIONS, PREPARED_BYTES } from "./limits.js";
import { type Release, Room } from "./room.js";

const ROOMS = {
  /** To fetch one address for one namespace, which are the owner: others find it in the folder then. */
  address: { total: Number.POSITIVE_INFINITY, share: 1 },
  /** To ask about modules of policies in namespaces, and to download them, by their sizes. */
  namespacedQuestions: NAMESPACED_QUESTIONS,
  namespacedDownloads: NAMESPACED_DOWNLOAD_BYTES,
  /** To do both for an operator. */
  downloads: { total: MAX_PARALLEL_DOWNLOADS, share: MAX_PARALLEL_DOWNLOADS },
  /** To hold modules in memory. */
  memory: PREPARED_BYTES,
} as const;

/** A room that all processes have together. */
export type RoomName = keyof typeof ROOMS;

/** Asked before anything is fetched or prepared. */
export interface ModuleShare {
  /** Resolves when there is room (`Room.enter`). */
  enter(room: RoomName, owner: string, weight: number): Promise<Release>;
  /** Bytes of modules that are kept in the download folder; absent: any, and nothing is removed from it. */
  readonly maxFolderBytes?: number;
}

/** For one process, and for others that ask it. */
export function localModuleShare(maxFolderBytes?: number): ModuleShare {
  const rooms = new Map(Object.entries(ROOMS).map(([name, { total, share }]) => [name, new Room(total, share)]));
  return {
    enter: (room, owner, weight) => rooms.get(room)!.enter(owner, weight),
    ...(maxFolderBytes !== undefined && { maxFolderBytes }),
  };
}
