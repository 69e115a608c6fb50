/** `serve` in one process: signals and files decide when it reloads and stops. */
import { watchFiles } from "../../server/file-watch.js";
import { type ServingOptions, ServingProcess } from "./process.js";
import { delayFor, stopSignal } from "./signals.js";

/** Serves until a signal says stop. */
export async function serveAlone(options: ServingOptions): Promise<void> {
  const { settings, logger } = options;
  const serving = await ServingProcess.start(options);
  const reload = async (): Promise<void> => {
    if (await serving.prepare()) serving.swap();
    else serving.discard();
  };
  const watch = await watchFiles({
    paths: () => (settings.watch ? serving.files : []),
    changed: reload,
  });
  const onHangUp = (): void => void watch.force();
  process.on("SIGHUP", onHangUp);
  const signal = await stopSignal();
  logger.info("stopping", { signal });
  process.off("SIGHUP", onHangUp);
  watch.close();
  void stopSignal().then(() => serving.stop(0, 0));
  await serving.stop(delayFor(signal, settings.drainDelay), settings.drainGrace);
  logger.info("stopped");
}
