/** The thread that checks and evaluates the page's drafts. */
import { parentPort, workerData } from "node:worker_threads";
import type { LoaderSettings } from "../../loader/settings.js";
import { PageError } from "../playground.js";
import { LocalPlayground } from "./local-playground.js";
import type { PlayMessage, PlayReply } from "./thread-playground.js";

const playground = new LocalPlayground(workerData as LoaderSettings);

parentPort?.on("message", async (message: PlayMessage) => {
  parentPort?.postMessage(await answerTo(message));
});

/** Never rejects. */
async function answerTo({ id, kind, args }: PlayMessage): Promise<PlayReply> {
  try {
    const ask = playground[kind] as (...given: typeof args) => ReturnType<LocalPlayground[typeof kind]>;
    return { id, answer: await ask.apply(playground, args) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { id, error: text, ...(error instanceof PageError && { status: error.status }) };
  }
}
