/**
 * Moves the wall clock of a process and its threads, as an administrator or a time service does; the monotonic clock goes on. Loaded with `--import`; the file
 * named by SHIFT_CLOCK_FILE says by how many milliseconds.
 */
import { readFileSync } from "node:fs";

/** How often the file is looked at. */
const LOOK_MS = 100;

const file = process.env.SHIFT_CLOCK_FILE;
const RealDate = Date;
let shift = 0;

if (file !== undefined) {
  setInterval(() => {
    try {
      shift = Number(readFileSync(file, "utf8"));
    } catch {
      // As it was.
    }
  }, LOOK_MS).unref();
  const now = (): number => RealDate.now() + shift;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: [], newTarget) =>
      args.length === 0 ? Reflect.construct(target, [now()], newTarget) : Reflect.construct(target, args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, key, receiver) => (key === "now" ? now : Reflect.get(target, key, receiver)),
  });
}
