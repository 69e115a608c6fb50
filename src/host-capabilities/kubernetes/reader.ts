/** What guests ask of a cluster is defined beside the client that answers it, in `kubernetes/reader.ts`. */

export type {
  AccessAnswer,
  AccessQuestion,
  GetQuery,
  KubernetesReader,
  ListQuery,
  ResourceSnapshot,
} from "../../kubernetes/reader.js";
export { NO_CLUSTER } from "../../world/no-cluster.js";
