/** `serve --record`: loaded with the option only. */

import { BatchingSink } from "../telemetry/line-sink.js";
import type { Logger } from "../telemetry/logger.js";
import { keepShort, Recorder, RecordFile } from "../telemetry/recording/index.js";
import type { ServeSettings } from "./settings.js";
import { StartError } from "./start-problem.js";

type RecordSettings = NonNullable<ServeSettings["record"]>;

/** Opens the recorder of one process. @throws StartError when the file can't be written to */
export function openRecorder({ file, every }: RecordSettings, logger: Logger): Recorder {
  const complain = (error: Error): void =>
    logger.error("requests are not recorded: the file can't be written to", { file, error: error.message });
  try {
    return new Recorder({ sink: new BatchingSink(new RecordFile({ path: file, complain })), every });
  } catch (error) {
    throw new StartError(`--record: ${file} can't be written to: ${(error as Error).message}`);
  }
}

/** Keeps the file of all processes short: in one of them. @returns ends it */
export function limitRecord({ file, maxBytes }: RecordSettings, logger: Logger): () => void {
  const complain = (error: Error): void =>
    logger.error("the file of recorded requests is too long, and can't be put aside", { file, error: error.message });
  return keepShort(file, maxBytes, complain);
}
