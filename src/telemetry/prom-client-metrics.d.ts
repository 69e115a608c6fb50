/** The library's files with one metric of the process each, which have no types of its own. */
declare module "prom-client/lib/metrics/*.js" {
  import type { Registry } from "prom-client";

  /** Adds the metric to a registry. */
  const collect: (registry: Registry, options: { readonly eventLoopMonitoringPrecision: number }) => void;
  export default collect;
}
