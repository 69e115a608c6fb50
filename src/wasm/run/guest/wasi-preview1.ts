/**
 * `wasi_snapshot_preview1` for policies: arguments, standard streams, clocks, random numbers, exit. No files, no environment. Our own, because Node's
 * `node:wasi` sleeps inside of native code (a killed worker would sleep on) and reads standard input from a file descriptor, whereas the host-call
 * answers of WASI policies arrive on standard input later (spec kubewarden.md 6.4).
 */

import { HOST_CALL_UNITS } from "./budget.js";
import { guardedImports } from "./guarded-imports.js";
import type { GuestHost } from "./guest.js";
import type { HostAccess } from "./host-access.js";

/** Error of a guest's exit, thrown through the guest's frames. */
export class ExitStatus extends Error {
  override readonly name = "ExitStatus";

  constructor(readonly code: number) {
    super(`exit status ${code}`);
  }
}

/** The call of one instance that the imports serve at the moment. */
export interface WasiCall extends Pick<HostAccess, "read" | "write" | "numbers" | "writeNumbers"> {
  /** Arguments, each with its NUL. */
  readonly args: readonly Uint8Array[];
  /** Bytes for the next read of standard input; empty means end of file for now. */
  readonly stdin: InputQueue;
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
  readonly host: GuestHost;
}

/** Arguments for {@link WasiCall}. */
export function wasiArguments(...args: readonly string[]): Uint8Array[] {
  return args.map((arg) => Buffer.from(`${arg}\0`, "utf8"));
}

/** Standard input as a queue: a read of the empty queue is an end of file that is not final. */
export class InputQueue {
  #chunks: Uint8Array[] = [];

  push(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#chunks.push(bytes);
  }

  /** Fills `target` with the available bytes; returns their number. */
  read(target: Uint8Array): number {
    let done = 0;
    while (done < target.length) {
      const chunk = this.#chunks[0];
      if (!chunk) break;
      const part = chunk.subarray(0, target.length - done);
      target.set(part, done);
      done += part.length;
      if (part.length === chunk.length) this.#chunks.shift();
      else this.#chunks[0] = chunk.subarray(part.length);
    }
    return done;
  }
}

const SUCCESS = 0;
const E_BADF = 8;
const E_INVAL = 28;
const E_NOSYS = 52;
const E_SPIPE = 70;
const FILETYPE_CHARACTER_DEVICE = 2;
const CLOCK_REALTIME = 0;
const EVENT_CLOCK = 0;
const SUBSCRIPTION_BYTES = 48;
const EVENT_BYTES = 32;
const CLOCK_ABSOLUTE = 1;
/** `path_*`, `sock_*` and the like: a policy has no files and no sockets. */
const ABSENT = [
  "fd_advise",
  "fd_allocate",
  "fd_datasync",
  "fd_fdstat_set_rights",
  "fd_filestat_get",
  "fd_filestat_set_size",
  "fd_filestat_set_times",
  "fd_pread",
  "fd_pwrite",
  "fd_readdir",
  "fd_renumber",
  "fd_sync",
  "path_create_directory",
  "path_filestat_get",
  "path_filestat_set_times",
  "path_link",
  "path_open",
  "path_readlink",
  "path_remove_directory",
  "path_rename",
  "path_symlink",
  "path_unlink_file",
  "proc_raise",
  "sock_accept",
  "sock_recv",
  "sock_send",
  "sock_shutdown",
] as const;

type Import = (...parameters: never[]) => number | bigint | undefined;

/**
 * An import object for any number of instances, one call after the other. Making fifty new functions for every instance would take longer than making
 * the instance, and the engine keeps them alive with the instance for a while.
 */
export function wasiImports(current: () => WasiCall): WebAssembly.ModuleImports {
  /** @param access the use of the buffers */
  function vectors(pointer: number, count: number, access: "read" | "write"): Uint8Array[] {
    if (count >>> 0 > 1024)
      throw current().host.limitPassed("the policy passed more than 1024 buffers to one read or write");
    const table = current().numbers();
    current().host.work((count >>> 0) * HOST_CALL_UNITS);
    return Array.from({ length: count }, (_, index) =>
      current()[access](table.getUint32(pointer + index * 8, true), table.getUint32(pointer + index * 8 + 4, true)),
    );
  }
  const store32 = (pointer: number, value: number): number => {
    current().writeNumbers(pointer, 4).setUint32(pointer, value, true);
    return SUCCESS;
  };
  const now = (clock: number): bigint => {
    const { moment } = current().host;
    return clock === CLOCK_REALTIME ? moment.wall() : moment.monotonic();
  };

  const imports: Record<string, Import> = {
    args_sizes_get(count: number, size: number) {
      const { args } = current();
      const total = args.reduce((sum, arg) => sum + arg.length, 0);
      return store32(count, args.length) || store32(size, total);
    },
    args_get(pointers: number, buffer: number) {
      let position = buffer;
      for (const [index, arg] of current().args.entries()) {
        store32(pointers + index * 4, position);
        current().write(position, arg.length).set(arg);
        position += arg.length;
      }
      return SUCCESS;
    },
    environ_sizes_get: (count: number, size: number) => store32(count, 0) || store32(size, 0),
    environ_get: () => SUCCESS,
    clock_res_get(_clock: number, pointer: number) {
      current().writeNumbers(pointer, 8).setBigUint64(pointer, 1_000n, true);
      return SUCCESS;
    },
    clock_time_get(clock: number, _precision: bigint, pointer: number) {
      current().writeNumbers(pointer, 8).setBigUint64(pointer, now(clock), true);
      return SUCCESS;
    },
    fd_close: (fd: number) => (fd <= 2 ? SUCCESS : E_BADF),
    fd_fdstat_get(fd: number, pointer: number) {
      if (fd > 2) return E_BADF;
      current().write(pointer, 24).fill(0);
      const written = current().writeNumbers(pointer, 24);
      written.setUint8(pointer, FILETYPE_CHARACTER_DEVICE);
      // fd_read is right 1, fd_write right 6.
      written.setBigUint64(pointer + 8, fd === 0 ? 2n : 64n, true);
      return SUCCESS;
    },
    fd_fdstat_set_flags: (fd: number) => (fd <= 2 ? SUCCESS : E_BADF),
    fd_prestat_get: () => E_BADF,
    fd_prestat_dir_name: () => E_BADF,
    fd_read(fd: number, pointer: number, count: number, read: number) {
      if (fd !== 0) return E_BADF;
      let total = 0;
      for (const target of vectors(pointer, count, "write")) {
        const length = current().stdin.read(target);
        current().host.work(length);
        total += length;
        if (length < target.length) break;
      }
      return store32(read, total);
    },
    fd_write(fd: number, pointer: number, count: number, written: number) {
      if (fd !== 1 && fd !== 2) return E_BADF;
      const call = current();
      let total = 0;
      for (const part of vectors(pointer, count, "read")) {
        call.host.work(part.length);
        if (fd === 1) call.stdout(part);
        else call.stderr(part);
        total += part.length;
      }
      return store32(written, total);
    },
    fd_seek: (fd: number) => (fd <= 2 ? E_SPIPE : E_BADF),
    fd_tell: (fd: number) => (fd <= 2 ? E_SPIPE : E_BADF),
    poll_oneoff: (subscriptions: number, events: number, count: number, ready: number) =>
      poll(current(), subscriptions, events, count, ready, now),
    proc_exit(code: number) {
      throw new ExitStatus(code);
    },
    random_get(pointer: number, length: number) {
      const { host } = current();
      host.moment.random(current().write(pointer, length), (units) => host.work(units));
      return SUCCESS;
    },
    sched_yield: () => SUCCESS,
  };
  for (const name of ABSENT)
    imports[name] = name.startsWith("fd_") || name.startsWith("path_") ? () => E_BADF : () => E_NOSYS;
  return guardedImports(imports, () => current().host);
}

/** Every name that this host provides, for the check at load. */
export const WASI_FUNCTIONS: ReadonlySet<string> = new Set(
  Object.keys(
    wasiImports(() => {
      throw new Error("these imports are never called");
    }),
  ),
);

/** Sleeps until the earliest clock of the subscriptions; streams are ready at once. */
function poll(
  call: WasiCall,
  subscriptions: number,
  events: number,
  count: number,
  ready: number,
  now: (clock: number) => bigint,
): number {
  const { host } = call;
  const view = call.numbers();
  if (count === 0) return E_INVAL;
  host.work((count >>> 0) * HOST_CALL_UNITS);
  let shortest: bigint | undefined;
  for (let index = 0; index < count; index++) {
    const at = subscriptions + index * SUBSCRIPTION_BYTES;
    let wait = 0n;
    if (view.getUint8(at + 8) === EVENT_CLOCK) {
      const timeout = view.getBigUint64(at + 24, true);
      wait = view.getUint16(at + 40, true) & CLOCK_ABSOLUTE ? timeout - now(view.getUint32(at + 16, true)) : timeout;
    }
    if (shortest === undefined || wait < shortest) shortest = wait;
  }
  if (shortest !== undefined && shortest > 0n) host.sleep(Number(shortest) / 1e6);
  const target = call.writeNumbers(events, count * EVENT_BYTES);
  let written = 0;
  for (let index = 0; index < count; index++) {
    const at = subscriptions + index * SUBSCRIPTION_BYTES;
    const to = events + written * EVENT_BYTES;
    target.setBigUint64(to, view.getBigUint64(at, true), true);
    target.setUint16(to + 8, SUCCESS, true);
    target.setUint8(to + 10, view.getUint8(at + 8));
    target.setBigUint64(to + 16, 0n, true);
    target.setUint16(to + 24, 0, true);
    written++;
    if (view.getUint8(at + 8) === EVENT_CLOCK) break;
  }
  call.writeNumbers(ready, 4).setUint32(ready, written, true);
  return SUCCESS;
}
