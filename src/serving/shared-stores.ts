/** One process watches a cluster's lists for all: the primary keeps them, and the serving processes read them there. */
import cluster, { type Worker } from "node:cluster";
import type { Environment } from "../data/command-io.js";
import { errorText } from "../data/error-text.js";
import type { FromKeeper, ToKeeper } from "../kubernetes/client/shared/messages.js";
import type { StoreChannel } from "../kubernetes/client/shared/mirrored-stores.js";
import type { WatchStores } from "../kubernetes/client/watch-stores.js";
import type { WatchNote } from "../kubernetes/client/watched-list.js";
import { NO_CLIENT } from "../kubernetes/reader.js";
import type { LoaderSettings } from "../loader/settings.js";
import type { Logger } from "../telemetry/logger.js";

/** The environment variable that is `true` when the primary keeps the lists. */
const VARIABLE = "POLICY_SERVER_SHARED_STORES";

/** The answer while there is no connection to the cluster. */
const NO_WAY = { code: "KUBERNETES_UNREACHABLE", message: NO_CLIENT, shown: NO_CLIENT };

/** Envelope that marks messages about stores. */
interface Envelope<M> {
  readonly type: "stores";
  readonly message: M;
}

const isEnvelope = (message: unknown): message is Envelope<ToKeeper> & Envelope<FromKeeper> =>
  typeof message === "object" && message !== null && "type" in message && message.type === "stores";

/**
 * Keeps the lists that other processes ask for. Without a folder for them, each process watches for itself.
 * @returns ends it
 */
export async function keepStores(loading: LoaderSettings, logger: Logger): Promise<() => Promise<void>> {
  const { LogFolder, KeptProcess, LOOK_MS } = await import("../kubernetes/client/shared/keeper.js");
  let folder: InstanceType<typeof LogFolder>;
  try {
    folder = new LogFolder();
  } catch (error) {
    logger.warn("each process watches the cluster for itself: there is no folder for files", {
      reason: errorText(error),
    });
    return async () => {};
  }
  process.env[VARIABLE] = "true";
  let opened: Promise<{ readonly stores: WatchStores; close(): Promise<void> } | undefined> | undefined;
  const kept = new Map<number, Promise<InstanceType<typeof KeptProcess> | undefined>>();
  const keptFor = (worker: Worker): Promise<InstanceType<typeof KeptProcess> | undefined> => {
    const known = kept.get(worker.id);
    if (known !== undefined) return known;
    opened ??= openStores(loading, logger, () => folder.newLog()).then((open) => {
      if (open !== undefined) return open;
      // The next request tries again.
      opened = undefined;
      kept.clear();
      return undefined;
    });
    const made = opened.then((open) => open && new KeptProcess(open.stores, (message) => tell(worker, message)));
    kept.set(worker.id, made);
    return made;
  };
  const hear = async (worker: Worker, { message }: Envelope<ToKeeper>): Promise<void> => {
    const process = await keptFor(worker);
    if (process !== undefined) return process.hear(message);
    if (message.type === "open") tell(worker, { type: "problem", id: message.id, problem: NO_WAY, final: true });
  };
  const heard = (worker: Worker, message: unknown): void => {
    // A process' messages may arrive after its end.
    if (isEnvelope(message) && !worker.isDead()) void hear(worker, message);
  };
  const end = (worker: Worker): void => {
    void kept.get(worker.id)?.then((process) => process?.end());
    kept.delete(worker.id);
  };
  cluster.on("message", heard);
  cluster.on("exit", end);
  const looking = setInterval(() => {
    for (const process of kept.values()) void process.then((each) => each?.look());
  }, LOOK_MS);
  looking.unref();
  const remove = (): void => folder.remove();
  process.on("exit", remove);
  return async () => {
    clearInterval(looking);
    cluster.off("message", heard);
    cluster.off("exit", end);
    await (await opened)?.close();
    remove();
    process.off("exit", remove);
    delete process.env[VARIABLE];
  };
}

function tell(worker: Worker, message: FromKeeper): void {
  const sent: Envelope<FromKeeper> = { type: "stores", message };
  if (worker.isConnected()) worker.send(sent, () => {});
}

/** Loaded at the first request: most servers have no cluster. @returns undefined when there is no way to it now */
async function openStores(
  loading: LoaderSettings,
  logger: Logger,
  newLog: () => ReturnType<InstanceType<typeof import("../kubernetes/client/shared/keeper.js").LogFolder>["newLog"]>,
) {
  const [{ clusterAccess }, { watchedStores }] = await Promise.all([
    import("../loader/cluster-access.js"),
    import("../kubernetes/client/index.js"),
  ]);
  // The serving processes have found one, unless a missing cluster was to be ignored.
  const access = clusterAccess({ ...loading, ignoreMissingCluster: true });
  if (access === undefined || "missing" in access) return undefined;
  const note: WatchNote = (message, level) => logger.log(level ?? "warn", message);
  return watchedStores({ connection: access.connection, now: () => performance.now(), note, newLog });
}

/** The channel to the lists that the primary keeps; undefined where it keeps none. */
export function storeChannel(env: Environment): StoreChannel | undefined {
  if (!cluster.isWorker || env[VARIABLE] !== "true") return undefined;
  return {
    send(message) {
      const sent: Envelope<ToKeeper> = { type: "stores", message };
      if (process.connected) process.send?.(sent, () => {});
    },
    listen(hear) {
      process.on("message", (message) => {
        if (isEnvelope(message)) hear(message.message);
      });
    },
  };
}
