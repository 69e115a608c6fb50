/** The thread that checks and evaluates the page's drafts. */
import { parentPort, workerData } from "node:worker_threads";
import type { LoaderSettings } from "../../loader/settings.js";
import { answerMessage } from "./answer.js";
import { LocalPlayground } from "./local-playground.js";
import type { PlayMessage } from "./messages.js";

const playground = new LocalPlayground(workerData as LoaderSettings);

parentPort?.on("message", async (message: PlayMessage) => {
  parentPort?.postMessage(await answerMessage(playground, message));
});
