/** The limit of open files (`ulimit -n`): too low a one shows as a failure in the middle of something, so it is looked at before anything starts. */
import { readFileSync } from "node:fs";

/** Below this the server cannot even load its own files, which are opened side by side. */
const LEAST_OPEN_FILES = 128;
/** What is needed for the connections of a cluster's API servers, beside policies, watches and guests: the usual limit of a login. */
const ENOUGH_OPEN_FILES = 1024;
/** Where Linux says it; elsewhere it is not known. */
const LIMITS_FILE = "/proc/self/limits";

/** Files beside connections: modules that are read, watches of a cluster, threads' and processes' pipes. */
const RESERVED_FILES = 64;

/** What is wrong with the limit. */
export interface OpenFilesProblem {
  /** Whether the server can't start. */
  readonly fatal: boolean;
  readonly message: string;
}

/**
 * What is wrong with the limit of open files of this process, if anything is and the system tells it.
 * @param read gives the text of Linux' `/proc/self/limits`
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

/**
 * How many connections the limit leaves room for; undefined when it is not known. Beyond the limit itself the system's library closes connections
 * without a word.
 */
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
