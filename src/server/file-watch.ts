/**
 * Notices changes of files by checking them: Secrets and ConfigMaps of Kubernetes change by a swap of symbolic links, which watches on
 * paths miss, and network file systems have no watches at all.
 */
import { stat } from "node:fs/promises";

/** Interval of checks: a rotation is in force within two. */
export const WATCH_INTERVAL_MS = 1000;

/** A running watch. */
export interface FileWatch {
  /**
   * Treats the files as changed, even if they are not, unless this is closed. Resolves when the resulting work is done; never twice at a
   * time.
   */
  force(): Promise<void>;
  close(): void;
}

/** Options of a watch. */
export interface FileWatchOptions {
  /** Files and folders, read anew at every check: a reload may bring others. */
  readonly paths: () => readonly string[];
  /** Called when something has changed and then stayed the same for one check; the next check waits for it. */
  readonly changed: () => Promise<void> | void;
  /** Milliseconds between checks. */
  readonly interval?: number;
  /** Milliseconds since 1970 at which the files began to be read: a later change is not known yet. Default: everything that is there is known. */
  readonly since?: number;
}

/** Starts a watch. The first check gives the known state. */
export async function watchFiles({
  paths,
  changed,
  interval = WATCH_INTERVAL_MS,
  since,
}: FileWatchOptions): Promise<FileWatch> {
  let known = await signature(paths(), since);
  /** A state that differs from the known one but may be half written. */
  let suspected: string | undefined;
  let running: Promise<void> | undefined;
  let closed = false;
  const take = async (state: string): Promise<void> => {
    suspected = undefined;
    const looked = paths().join("\n");
    await changed();
    // The paths may be others now; changes meanwhile are for the next check.
    known = paths().join("\n") === looked ? state : await signature(paths());
  };
  const look = async (): Promise<void> => {
    const now = await signature(paths());
    if (now === known) suspected = undefined;
    else if (now === suspected) await take(now);
    else suspected = now;
  };
  const turn = (work: () => Promise<void>): Promise<void> => {
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => {
    if (running === undefined) void turn(look);
  }, interval);
  timer.unref();
  return {
    force: async () => {
      while (running !== undefined) await running;
      if (closed) return;
      await turn(async () => take(await signature(paths())));
    },
    close: () => {
      closed = true;
      clearInterval(timer);
    },
  };
}

/**
 * A text that identifies a state: other contents of a file have another time, size or inode. Links are followed.
 * @param until milliseconds since 1970: a file that has changed later has no state yet
 */
async function signature(paths: readonly string[], until = Number.POSITIVE_INFINITY): Promise<string> {
  const parts = await Promise.all(
    paths.map(async (path) => {
      try {
        const { ino, size, mtimeMs, ctimeMs } = await stat(path);
        return ctimeMs > until ? `${path}:not read yet` : `${path}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
      } catch {
        return `${path}:absent`;
      }
    }),
  );
  return parts.join("\n");
}
