import type { Agent } from "../cluster/index.js";
import { watchFiles } from "../server/file-watch.js";
import type { AgentStart } from "./cluster-agent.js";
import { type ServingOptions, ServingProcess } from "./process.js";
import { ServedAlone } from "./served-alone.js";
import { delayFor, type HangUps, stopSignal } from "./signals.js";

/**
 * `serve` in one process: signals, files and the cluster decide when it reloads and stops.
 * @param startAgent starts the agent of a cluster, if the settings ask for one
 */
export async function serveAlone(options: ServingOptions, hangs: HangUps, startAgent?: AgentStart): Promise<void> {
  const { settings, logger, metrics } = options;
  // Before readiness: a signal that comes with the first answer must find its handler, or it ends the process at once.
  const stopped = stopSignal();
  let agent: Agent | undefined;
  let again = (): void => {};
  const unready = (): string | undefined =>
    startAgent !== undefined && agent === undefined ? "the cluster's policies are not known yet" : agent?.unready;
  const serving = await ServingProcess.start({ ...options, unready, loadWanted: () => again() });
  serving.approve();
  const inTurn = oneAfterTheOther();
  const reload = (): Promise<void> =>
    inTurn(async () => {
      const { ok, reports = [] } = await serving.prepare();
      if (ok) serving.swap();
      else serving.discard();
      // The cluster's policies whose ids the file has taken, or given up, have changed.
      if (ok) agent?.loaded(reports);
      metrics.reloaded(ok ? "applied" : "rejected");
    });
  const alone = new ServedAlone(serving, inTurn, () => metrics.evaluations);
  again = () => void alone.again().then((reports = []) => agent?.loaded(reports));
  agent = startAgent?.(alone, {
    gauge: (name, read) => metrics.gauge(name, read),
    auditResults: (read) => metrics.auditResults(read),
    rejections: async () => metrics.rejections(),
    certificateChanged: (step) => metrics.certificateChanged(step),
  });
  const watch = await watchFiles({
    paths: () => (settings.watch ? serving.files : []),
    changed: reload,
  });
  hangs.reload(() => void watch.force());
  const signal = await stopped;
  logger.info("stopping", { signal });
  watch.close();
  alone.stop();
  void stopSignal().then(() => serving.stop(0, 0));
  await Promise.all([agent?.stepDown(), serving.stop(delayFor(signal, settings.drainDelay), settings.drainGrace)]);
  await agent?.stop();
  logger.info("stopped");
}

/** Runs work one after the other, in the order of arrival. */
function oneAfterTheOther(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = turn.then(work);
    turn = next.catch(() => {});
    return next;
  };
}
