/** What a new process is told before it begins. */
import type { ClusterDelta } from "../config/from-cluster/cluster-document.js";
import type { ToWorker } from "./messages.js";
import { tell } from "./tell.js";

/**
 * Asks the primary what the cluster holds now.
 * @param known the version that this process has; 0: none
 * @returns everything; undefined: no more than is known
 */
export function clusterAtBegin(known: number): Promise<ClusterDelta | undefined> {
  return new Promise((resolve) => {
    const end = (delta?: ClusterDelta): void => {
      process.off("message", hear);
      process.off("disconnect", end);
      resolve(delta);
    };
    const hear = (message: ToWorker): void => {
      if (message.type === "begin") end(message.delta);
    };
    process.on("message", hear);
    // Without a primary this process ends soon; until then it waits for nobody.
    process.once("disconnect", end);
    tell({ type: "begin-wanted", known });
  });
}
