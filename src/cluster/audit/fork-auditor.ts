import { type ChildProcess, fork } from "node:child_process";
import type { StartAuditor } from "./audit-part.js";
import { AUDITOR_VARIABLE, type FromAuditor, type ToAuditor } from "./messages.js";

/** The variable by which `node:cluster` recognizes its workers: the auditor is not one, even if a worker starts it. */
const WORKER_VARIABLE = "NODE_UNIQUE_ID";
/** MiB of its heap: policies take as much as in a serving process, and a page of objects some ten. */
const HEAP_MIB = 384;
/** Time in which it must end. */
const END_WITHIN_MS = 5_000;

/**
 * Starts this process' command line as an auditor.
 * @param attend receives the process
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
      // A process that could not be started has no number; otherwise the error is about a message that could not be sent.
      child.on("error", (error) => {
        if (child.pid !== undefined) return;
        resolve();
        ended(error.message);
      });
    });
    attend(child);
    child.on("message", (message: FromAuditor) => {
      // Messages about shared state come in between.
      if (message.type === "wants-all" || message.type === "round") hear(message);
    });
    const send = (message: ToAuditor): void => {
      // Sending fails for a process that has just died, whose end is noticed separately.
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
