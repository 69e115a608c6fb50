/** A thread of a large scan: prepares the plan's policies, then evaluates batches until it is ended. */

import { parentPort, workerData } from "node:worker_threads";
import type { LoaderSettings } from "../../loader/settings.js";
import { openScan } from "./open-scan.js";
import { ScanError } from "./scan-error.js";
import type { ScanPlan } from "./scan-plan.js";
import { scanTools } from "./scan-tools.js";
import type { BatchMessage, ScannedMessage } from "./threads.js";

/** Data of a thread. */
export interface ThreadData {
  readonly plan: ScanPlan;
  readonly settings: LoaderSettings;
}

const { plan, settings } = workerData as ThreadData;
const opened = openScan(plan, scanTools(settings, process));
opened.catch(() => {});

parentPort?.on("message", async ({ id, batch }: BatchMessage) => {
  let answer: ScannedMessage;
  try {
    const { scanner } = await opened;
    answer = { id, scanned: await scanner.scanBatch(batch) };
  } catch (error) {
    answer = {
      id,
      error: error instanceof Error ? error.message : String(error),
      known: error instanceof ScanError,
    };
  }
  parentPort?.postMessage(answer);
});
