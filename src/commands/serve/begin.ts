/** What a new process is told before it begins. */
import type { ClusterDelta } from "../../config/from-cluster/cluster-document.js";
import type { ToWorker } from "./messages.js";
import { tell } from "./tell.js";

/** Asks the primary what the cluster holds now; undefined: nothing is known yet. */
export function clusterAtBegin(): Promise<ClusterDelta | undefined> {
  return new Promise((resolve) => {
    const hear = (message: ToWorker): void => {
      if (message.type !== "begin") return;
      process.off("message", hear);
      process.off("disconnect", end);
      resolve(message.delta);
    };
    // Without a primary this process ends soon; until then it waits for nobody.
    const end = (): void => {
      process.off("message", hear);
      resolve(undefined);
    };
    process.on("message", hear);
    process.once("disconnect", end);
    tell({ type: "begin-wanted" });
  });
}
