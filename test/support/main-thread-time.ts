/** How long the main thread was held, in time that it computed: a busy machine makes everything later, but nothing costlier. */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The kernel's account of the main thread, whose number is the process's. */
const ACCOUNT = `/proc/self/task/${process.pid}/schedstat`;
/** Milliseconds between two looks. */
const LOOK_MS = 2;

/** Whether the time can be had here. */
export function hasMainThreadTime(): boolean {
  try {
    return mainThreadTime() > 0;
  } catch {
    return false;
  }
}

/** Milliseconds that the main thread has computed. */
function mainThreadTime(): number {
  return Number(readFileSync(ACCOUNT, "utf8").split(" ", 1)[0]) / 1e6;
}

/** Collects the garbage of this thread, so that what is measured next does not pay for what was made before. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
}

/** Runs something, and tells the longest time that it held the main thread at a stretch, in milliseconds of computing. */
export async function longestHold(run: () => Promise<void>): Promise<number> {
  collectGarbage();
  let last = mainThreadTime();
  let longest = 0;
  const look = () => {
    const now = mainThreadTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const looking = setInterval(look, LOOK_MS);
  try {
    await run();
    // Until the event loop had another turn.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    clearInterval(looking);
  }
  look();
  return longest;
}
