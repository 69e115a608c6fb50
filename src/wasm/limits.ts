/** What one guest call may use. Every number can be changed by the configuration; these are the defaults. */

/** Limits of one call. */
export interface GuestLimits {
  /** Most pages of 64 KiB that a guest's memory may grow to. */
  readonly memoryPages: number;
  /** Most bytes of an answer, and of what a guest writes to its standard output. */
  readonly outputBytes: number;
  /** Most calls to the host, log lines not counted. */
  readonly hostCalls: number;
  /** Most bytes of what a call to the host asks with. */
  readonly hostCallBytes: number;
  /** Most log lines; further ones are dropped, because a log line never fails towards the guest. */
  readonly logLines: number;
  /** Most bytes of one log line; the rest is cut off. */
  readonly logLineBytes: number;
}

/** The limits that hold when the configuration says nothing. */
export const DEFAULT_GUEST_LIMITS: GuestLimits = {
  /** 256 MiB of memory: the largest published policy (a Go module of 22 MB) needs a third of it. */
  memoryPages: 4096,
  /** An answer repeats at most one mutated object; requests are limited to a few MiB, so 16 MiB is out of any honest guest's reach. */
  outputBytes: 16 * 1024 * 1024,
  /** A policy that checks every image of a large Pod against a registry makes some dozens of calls. */
  hostCalls: 1_000,
  /**
   * The longest honest payload is a chain of certificates, as JSON lists of numbers some hundred KiB. The main thread reads payloads, and serves
   * all requests besides.
   */
  hostCallBytes: 1024 * 1024,
  /** A chatty policy logs some dozens of lines; a looping one would otherwise fill the log and the main thread's memory. */
  logLines: 1_000,
  /** One line of a log must fit its collector; 16 KiB is where container runtimes split lines. */
  logLineBytes: 16 * 1024,
};

/** Milliseconds a call may take when neither the policy nor the server says otherwise (spec kubewarden.md 2, `--policy-timeout`). */
export const DEFAULT_TIMEOUT_MS = 2_000;

/**
 * The check of settings at load may take so many times as long as a call. It is the module's first call, for which the engine compiles functions: two
 * seconds of work for a Go module of 80 MB on a busy machine, which must not make the load fail. Nobody waits for an answer.
 */
export const LOAD_TIMEOUT_FACTOR = 5;
