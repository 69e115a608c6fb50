/** Limits of one guest call. The configuration can change every number; these are the defaults. */

/** Limits of one call. */
export interface GuestLimits {
  /** Most pages of 64 KiB that a guest's memory may grow to. */
  readonly memoryPages: number;
  /** Most bytes of an answer, and of what a guest writes to its standard output. */
  readonly outputBytes: number;
  /** Most calls to the host, log lines not counted. */
  readonly hostCalls: number;
  /** Most bytes of a host call's payload. */
  readonly hostCallBytes: number;
  /** Most bytes of all log lines of a call; further lines are dropped, because a log line never fails towards the guest. */
  readonly logBytes: number;
  /** Most bytes of one log line; the rest is cut off. */
  readonly logLineBytes: number;
}

/** The limits by default. */
export const DEFAULT_GUEST_LIMITS: GuestLimits = {
  /** 256 MiB of memory: the largest published policy (a Go module of 22 MB) needs a third of it. */
  memoryPages: 4096,
  /** An answer repeats at most one mutated object; requests are limited to a few MiB, so 16 MiB is out of any honest guest's reach. */
  outputBytes: 16 * 1024 * 1024,
  /** A policy that checks every image of a large Pod against a registry makes some dozens of calls. */
  hostCalls: 1_000,
  /**
   * The longest honest payload is a chain of certificates, as JSON lists of numbers some hundred KiB. The main thread parses payloads beside serving
   * all requests.
   */
  hostCallBytes: 1024 * 1024,
  /** A verbose policy logs some dozens of lines; a looping one would otherwise fill the log and hold the main thread, which writes it. */
  logBytes: 64 * 1024,
  /** One line of a log must fit its collector; 16 KiB is where container runtimes split lines. */
  logLineBytes: 16 * 1024,
};

const MIB = 1024 * 1024;

/**
 * Most length of an answer, or of the patch of a changed object, as a multiple of its question: escapes make a text longer, and a patch has the path
 * of every value. Longer ones would only take time to parse.
 */
const ANSWER_FACTOR = 4;
/** Most bytes of an answer to the shortest question: more than ten times the API server's limits of messages, warnings and annotations. */
const ANSWER_ROOM_BYTES = MIB;
/** Most bytes of any patch: the API server accepts no object of more than 3 MiB, and the main thread writes the patch into its answer. */
const PATCH_BYTES = 8 * MIB;
/**
 * Most characters of an outcome without its patch, as JSON: message, warnings, annotations, status. The main thread parses them and writes them into
 * its answer, the log and the decision record; the API server passes on some KiB of them.
 */
export const FINDINGS_CHARACTERS = 256 * 1024;

/**
 * Most bytes of an answer.
 * @param question bytes of the payload that it answers
 */
export function mostAnswerBytes({ outputBytes }: GuestLimits, question: number): number {
  return Math.min(outputBytes, ANSWER_FACTOR * question + ANSWER_ROOM_BYTES);
}

/**
 * Most bytes of a JSON Patch.
 * @param question bytes of the payload with the object that it changes
 */
export function mostPatchBytes(question: number): number {
  return Math.min(PATCH_BYTES, ANSWER_FACTOR * question + ANSWER_ROOM_BYTES);
}

/** Milliseconds a call may take unless the policy or the server sets another limit (spec kubewarden.md 2, `--policy-timeout`). */
export const DEFAULT_TIMEOUT_MS = 2_000;

/**
 * Time limit of the check of settings at load, as a multiple of a call's. It is the module's first call, for which the engine compiles functions: two
 * seconds of work for a Go module of 80 MB on a busy machine, which must not make the load fail. No request waits meanwhile.
 */
export const LOAD_TIMEOUT_FACTOR = 5;
