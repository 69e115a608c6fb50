/** What the host asks of a cluster stands in the room `kubernetes`, whose client answers it. */

export { NO_CLUSTER } from "../../kubernetes/no-cluster.js";
export type {
  AccessAnswer,
  AccessQuestion,
  GetQuery,
  KubernetesReader,
  ListQuery,
  ResourceSnapshot,
} from "../../kubernetes/reader.js";
