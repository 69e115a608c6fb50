/** The thread that checks and evaluates the page's drafts. */
import { resolve } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { answerMessage } from "../../page/play/answer.js";
import { LocalPlayground } from "../../page/play/local-playground.js";
import type { PlayMessage } from "../../page/play/messages.js";
import { buildRequest, readRequest } from "../build-request.js";
import { createLoader } from "../load.js";
import { policiesFile } from "../policies-file.js";

/** What the thread is given. */
export interface PlayData {
  readonly values: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const { values, env } = workerData as PlayData;

/** Guests that run at a time: one person asks. */
const GUEST_THREADS = 1;

const playground = new LocalPlayground({
  file: resolve(policiesFile(values)),
  policyTimeout: Number(values.policyTimeout ?? 2) * 1000,
  openLoader: ({ closed, ...special }) => {
    const own = { ...values, workers: GUEST_THREADS, ...(closed && { kubernetes: false, kubeconfig: undefined }) };
    return createLoader(own, env, undefined, { closed, ...special }).loader;
  },
  requests: { build: buildRequest, read: readRequest },
});

parentPort?.on("message", async (message: PlayMessage) => {
  parentPort?.postMessage(await answerMessage(playground, message));
});
