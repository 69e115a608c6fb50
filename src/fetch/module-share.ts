/** Limits on modules that all processes of a server share: fetching and preparing at a time, and the size of the download folder. */
import { MAX_PARALLEL_DOWNLOADS, NAMESPACED_DOWNLOAD_BYTES, NAMESPACED_QUESTIONS, PREPARED_BYTES } from "./limits.js";
import { type Release, Room } from "./room.js";

const ROOMS = {
  /** Fetching an address for a namespace, which together are the owner: others then find it in the folder. */
  address: { total: Number.POSITIVE_INFINITY, share: 1 },
  /** Requests about modules of policies in namespaces, and their downloads, by size. */
  namespacedQuestions: NAMESPACED_QUESTIONS,
  namespacedDownloads: NAMESPACED_DOWNLOAD_BYTES,
  /** Both for an operator. */
  downloads: { total: MAX_PARALLEL_DOWNLOADS, share: MAX_PARALLEL_DOWNLOADS },
  /** Modules in memory. */
  memory: PREPARED_BYTES,
} as const;

/** A room that all processes share. */
export type RoomName = keyof typeof ROOMS;

/** Limits fetching and preparing. */
export interface ModuleShare {
  /** Resolves when there is room (`Room.enter`). */
  enter(room: RoomName, owner: string, weight: number): Promise<Release>;
  /** Bytes of modules that are kept in the download folder; absent: no limit, nothing is removed. */
  readonly maxFolderBytes?: number;
}

/** Creates a share for this process, and for others that send it requests. */
export function localModuleShare(maxFolderBytes?: number): ModuleShare {
  const rooms = new Map(Object.entries(ROOMS).map(([name, { total, share }]) => [name, new Room(total, share)]));
  return {
    enter: (room, owner, weight) => rooms.get(room)!.enter(owner, weight),
    ...(maxFolderBytes !== undefined && { maxFolderBytes }),
  };
}
