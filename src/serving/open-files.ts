/** The limit of open files (`ulimit -n`): a limit that is too low would fail in the middle of something, so it is checked before the start. */
import { readFileSync } from "node:fs";

/** Below this the server cannot even load its own files, which are opened side by side. */
const LEAST_OPEN_FILES = 128;
/** Enough for the connections of a cluster's API servers, beside policies, watches and guests: the usual limit of a login. */
const ENOUGH_OPEN_FILES = 1024;
/** The file with Linux' limits; elsewhere they are not known. */
const LIMITS_FILE = "/proc/self/limits";

/** Files beside connections: modules that are read, watches of a cluster, threads' and processes' pipes. */
const RESERVED_FILES = 64;

/** A problem with the limit. */
export interface OpenFilesProblem {
  /** Whether the server can't start. */
  readonly fatal: boolean;
  readonly message: string;
}

/**
 * Checks the limit of open files of this process, where the system reports it.
 * @param read returns the text of Linux' `/proc/self/limits`
 */
export function openFilesProblem(read: () => string = readLimits): OpenFilesProblem | undefined {
  const limit = limitIn(read);
  if (limit === undefined || limit >= ENOUGH_OPEN_FILES) return undefined;
  const fatal = limit < LEAST_OPEN_FILES;
  const consequence = fatal
    ? `the server needs ${LEAST_OPEN_FILES} to start, and ${ENOUGH_OPEN_FILES} to serve a cluster`
    : `connections beyond it have to wait; ${ENOUGH_OPEN_FILES} are enough for a cluster`;
  return { fatal, message: `too few files may be open: the limit is ${limit} (ulimit -n); ${consequence}` };
}

/** Number of connections within the limit; undefined when it is not known. Beyond the limit libuv closes connections without an error. */
export function roomForConnections(read: () => string = readLimits): number | undefined {
  const limit = limitIn(read);
  return limit === undefined ? undefined : Math.max(1, limit - RESERVED_FILES);
}

function readLimits(): string {
  return readFileSync(LIMITS_FILE, "utf8");
}

function limitIn(read: () => string): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(read())?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
