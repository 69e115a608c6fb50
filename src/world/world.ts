import type { Authorizer } from "./authorizer/authorizer.js";
import type { ResourceSource } from "./resources/resource-source.js";

/** What policies may ask about beside the request: in a cluster, in files, or nowhere. */
export interface World {
  /** Where Namespaces, parameters and kinds are looked up behind the documents of a policy; absent: documents are all there is. */
  readonly resources?: ResourceSource;
  /** Who knows the versions of resources, asked when a request comes in another than a rule names; absent: nobody but documents and a table. */
  readonly versions?: Pick<ResourceSource, "equivalents">;
  /** Who may do what. */
  readonly authorizer: Authorizer;
  /** Monotonic milliseconds, the clock of deadlines. */
  readonly now: () => number;
}
