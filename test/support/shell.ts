import { execFile } from "node:child_process";
import { GIVE_UP_MS } from "./until.js";

/**
 * Runs a command as a shell would.
 * @param cwd its folder
 * @returns what it prints to standard output; where that is nothing and it failed, what it said, so that a comparison shows it
 */
export function shell(command: string, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("bash", ["-c", command], { cwd, timeout: GIVE_UP_MS }, (error, stdout, stderr) => {
      if (error?.killed) reject(new Error(`${command} did not end:\n${stdout}${stderr}`));
      else resolve((error !== null && stdout === "" ? stderr : stdout).trimEnd());
    });
  });
}
