/**
 * Measures the longest time that a process' main thread computed at a stretch, which a busy machine does not make longer: loaded into the server with
 * `--import`. Each process writes it, in milliseconds, to a file of the folder HOLD_FOLDER that has its number; a file that was removed begins anew.
 */
import { existsSync, openSync, readSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Milliseconds between two looks. */
const LOOK_MS = 4;
/** Milliseconds from which a stretch is written down: at once, as a main thread that is held has few moments to do it. */
const NOTED_MS = 20;

const folder = process.env.HOLD_FOLDER;

if (folder !== undefined && isMainThread) {
  const file = `${folder}/${process.pid}`;
  // The kernel's account of the main thread; kept open, because there may be no file descriptor later.
  const account = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(128);
  const computed = (): number =>
    Number(buffer.toString("latin1", 0, readSync(account, buffer, 0, buffer.length, 0)).split(" ", 1)[0]) / 1e6;
  let last = computed();
  let longest = 0;
  setInterval(() => {
    const now = computed();
    const step = now - last;
    last = now;
    if (step < NOTED_MS) return;
    if (!existsSync(file)) longest = 0;
    if (step <= longest) return;
    longest = step;
    try {
      writeFileSync(file, `${longest}`);
    } catch {
      // The next time.
    }
  }, LOOK_MS).unref();
}
