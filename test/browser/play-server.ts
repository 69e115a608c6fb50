import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A server that has not said its address by then does not start. In milliseconds. */
const PATIENCE = 30_000;
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** `policy-server play`, as somebody starts it on a laptop. */
export interface PlayServer {
  readonly url: string;
  readonly end: () => Promise<void>;
}

function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(new Error(`play does not start: ${text}`)), PATIENCE);
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/localhost:\d+\//.exec(text);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[0]);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", () => reject(new Error(`play has ended: ${text}`)));
  });
}

/** Starts it over the policies of this checkout. */
export async function playServer(): Promise<PlayServer> {
  const child = spawn(process.execPath, ["dist/server/main.js", "play", "policies.yaml", "--port", "0"], { cwd: root });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const end = async () => {
    process.removeListener("exit", kill);
    if (child.exitCode !== null || child.signalCode !== null) return;
    kill();
    await once(child, "exit");
  };
  try {
    return { url: await address(child), end };
  } catch (error) {
    await end();
    throw error;
  }
}
