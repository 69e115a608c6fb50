import { watchFiles } from "../../server/file-watch.js";
import { type ServingOptions, ServingProcess } from "./process.js";
import { delayFor, type HangUps, stopSignal } from "./signals.js";

/** `serve` in one process: signals and files decide when it reloads and stops. */
export async function serveAlone(options: ServingOptions, hangs: HangUps): Promise<void> {
  const { settings, logger, metrics } = options;
  // Before readiness: a signal that comes with the first answer must find its handler, or it ends the process at once.
  const stopped = stopSignal();
  const serving = await ServingProcess.start(options);
  serving.approve();
  const reload = async (): Promise<void> => {
    const { ok: good } = await serving.prepare();
    if (good) serving.swap();
    else serving.discard();
    metrics.reloaded(good ? "applied" : "rejected");
  };
  const watch = await watchFiles({
    paths: () => (settings.watch ? serving.files : []),
    changed: reload,
  });
  hangs.reload(() => void watch.force());
  const signal = await stopped;
  logger.info("stopping", { signal });
  watch.close();
  void stopSignal().then(() => serving.stop(0, 0));
  await serving.stop(delayFor(signal, settings.drainDelay), settings.drainGrace);
  logger.info("stopped");
}
