/**
 * Noticing that files have changed by looking at them: Secrets and ConfigMaps of Kubernetes change by a swap of symbolic links, which watches on
 * paths miss, and network file systems have no watches at all.
 */
import { stat } from "node:fs/promises";

/** How often files are looked at: a rotation is in force within two looks. */
export const WATCH_INTERVAL_MS = 1000;

/** Looks after files. */
export interface FileWatch {
  /**
   * Takes the files for changed, whether they look so or not, unless this is closed. Resolves when what that sets off is done; never twice at a
   * time.
   */
  force(): Promise<void>;
  close(): void;
}

/** What to look after. */
export interface FileWatchOptions {
  /** Files and folders, asked anew at every look: a reload may bring others. */
  readonly paths: () => readonly string[];
  /** Called when something has changed and then stood still for one look; the next look waits for it. */
  readonly changed: () => Promise<void> | void;
  /** Milliseconds between looks. */
  readonly interval?: number;
}

/** Starts to look after files. The first look is the state that counts as known. */
export async function watchFiles({
  paths,
  changed,
  interval = WATCH_INTERVAL_MS,
}: FileWatchOptions): Promise<FileWatch> {
  let known = await signature(paths());
  /** A state that differs from the known one but may be half written. */
  let suspected: string | undefined;
  let running: Promise<void> | undefined;
  let closed = false;
  const take = async (state: string): Promise<void> => {
    suspected = undefined;
    const looked = paths().join("\n");
    await changed();
    // What is looked after may be others now; what has changed meanwhile is for the next look.
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

/** What tells one state from another: for files content that is not the same has another time, size or inode. Links are followed. */
async function signature(paths: readonly string[]): Promise<string> {
  const parts = await Promise.all(
    paths.map(async (path) => {
      try {
        const { ino, size, mtimeMs, ctimeMs } = await stat(path);
        return `${path}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
      } catch {
        return `${path}:absent`;
      }
    }),
  );
  return parts.join("\n");
}
