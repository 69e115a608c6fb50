/** What the host asks of a cluster stands in the room `kubernetes`, whose client answers it. */

export type {
  AccessAnswer,
  AccessQuestion,
  GetQuery,
  KubernetesReader,
  ListQuery,
  ResourceSnapshot,
} from "../../kubernetes/reader.js";
export { NO_CLUSTER } from "../../world/no-cluster.js";
