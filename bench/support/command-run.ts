/** What a command takes from its beginning to its end: time of the clock and of processors, and memory. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Milliseconds between looks at the memory; the system keeps its peak, so that only growth right before the end is missed. */
const LOOK_EVERY_MS = 10;

/** What a run took. */
export interface CommandRun {
  readonly seconds: number;
  /** Of processors, those of all its threads and children. */
  readonly cpuSeconds: number;
  /** The most memory that it held at a time; NaN where the system doesn't tell. */
  readonly peakMebibytes: number;
  /** The last line of its standard output. */
  readonly lastLine: string;
}

/**
 * Runs a command. Exit codes 0 and 1 are its findings, any other throws.
 * @param folder for its output
 * @param limitMs when it is ended
 */
export async function runCommand(command: readonly string[], folder: string, limitMs: number): Promise<CommandRun> {
  const out = join(folder, "output");
  // A shell tells what its children took; node:child_process does not.
  const script = 'out=$1; shift; "$@" >"$out" 2>"$out.errors"; code=$?; times; exit $code';
  const start = performance.now();
  const shell = spawn("sh", ["-c", script, "sh", out, ...command], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const pid = shell.pid ?? 0;
  let peak = Number.NaN;
  const look = setInterval(() => {
    const kibibytes = peakOfChild(pid);
    if (kibibytes !== undefined) peak = kibibytes;
  }, LOOK_EVERY_MS);
  const limit = setTimeout(() => process.kill(-pid, "SIGKILL"), limitMs);
  let told = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    told += text;
  });
  const [code] = (await once(shell, "close")) as [number | null];
  const seconds = (performance.now() - start) / 1000;
  clearInterval(look);
  clearTimeout(limit);
  if (code !== 0 && code !== 1) {
    throw new Error(
      `${command.join(" ")}: exit code ${code}\n${readFileSync(`${out}.errors`, "utf8").slice(0, 2_000)}`,
    );
  }
  return {
    seconds,
    cpuSeconds: secondsIn(told.trim().split("\n").at(-1) ?? ""),
    peakMebibytes: peak / 1024,
    lastLine: readFileSync(out, "utf8").trim().split("\n").at(-1) ?? "",
  };
}

/** Kibibytes that the only child of a process held at most so far; undefined when there is none. */
function peakOfChild(pid: number): number | undefined {
  try {
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const [, kibibytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child}/status`, "utf8")) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes);
  } catch {
    return undefined;
  }
}

/** The sum of `1m2.5s 0m0.5s`. */
const secondsIn = (line: string): number =>
  [...line.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
