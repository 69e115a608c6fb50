import { type ChildProcess, fork } from "node:child_process";
import type { StartAuditor } from "./audit-part.js";
import { AUDITOR_VARIABLE, type FromAuditor, type ToAuditor } from "./messages.js";

/** What `node:cluster` tells its workers by: this process is none of them, also when a worker starts it. */
const WORKER_VARIABLE = "NODE_UNIQUE_ID";
/** MiB of its heap: policies take as much as in a process that serves, and a page of objects some ten. */
const HEAP_MIB = 384;
/** How long it may take to end. */
const END_WITHIN_MS = 5_000;

/**
 * Starts the very command line of this process as one that audits.
 * @param attend told of the process
 */
export const auditorsFor =
  (attend: (child: ChildProcess) => void): StartAuditor =>
  (hear, ended) => {
    const [, script = "", ...args] = process.argv;
    const { [WORKER_VARIABLE]: _, ...environment } = process.env;
    const child: ChildProcess = fork(script, args, {
      env: { ...environment, [AUDITOR_VARIABLE]: "true" },
      execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MIB}`],
    });
    const gone = new Promise<void>((resolve) => {
      child.once("exit", (code, signal) => {
        resolve();
        ended(`${signal ?? code}`);
      });
      // One that could not be started has no number; else it is about a message that could not be sent.
      child.on("error", (error) => {
        if (child.pid !== undefined) return;
        resolve();
        ended(error.message);
      });
    });
    attend(child);
    child.on("message", (message: FromAuditor) => {
      // What it shares with others is said in between.
      if (message.type === "wants-all" || message.type === "round") hear(message);
    });
    const send = (message: ToAuditor): void => {
      // A failure is of one that has just died, which is told as its end.
      if (child.connected) child.send(message, () => {});
    };
    return {
      send,
      async end() {
        send({ type: "stop" });
        const kill = setTimeout(() => child.kill("SIGKILL"), END_WITHIN_MS);
        await gone;
        clearTimeout(kill);
      },
    };
  };
