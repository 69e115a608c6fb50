/** `--daemon`: the server continues without the terminal that started it (spec kubewarden.md 2). */
import { spawn } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";

/** Files for a daemon's output and process number. */
export interface DaemonFiles {
  readonly pidFile: string;
  /** Absent: its output is dropped. */
  readonly stdoutFile?: string;
  readonly stderrFile?: string;
}

/**
 * Starts the same command line again, without `--daemon`, in a session of its own, and writes its process number.
 * @throws the system's error when a file can't be written
 */
export function startDaemon(
  { pidFile, stdoutFile, stderrFile }: DaemonFiles,
  env: Readonly<Record<string, string | undefined>>,
): number {
  const output = (file: string | undefined): number | "ignore" => (file === undefined ? "ignore" : openSync(file, "a"));
  const { KUBEWARDEN_DAEMON: _, ...rest } = env;
  const child = spawn(
    process.execPath,
    process.argv.slice(1).filter((argument) => argument !== "--daemon"),
    { detached: true, env: rest, stdio: ["ignore", output(stdoutFile), output(stderrFile)] },
  );
  const pid = child.pid ?? 0;
  writeFileSync(pidFile, `${pid}\n`);
  child.unref();
  return pid;
}
