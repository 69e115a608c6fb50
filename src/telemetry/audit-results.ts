import { Gauge } from "prom-client";

/** Number of objects with a result of a policy. */
export interface AuditSample {
  readonly policy: string;
  readonly result: string;
  readonly objects: number;
}

/** The results of objects in the last background audit; read at every scrape. */
export const auditResultsGauge = (read: () => Iterable<AuditSample>): Gauge =>
  new Gauge({
    name: "policy_server_audit_results",
    help: "Objects of this replica's part of the cluster by what a policy says of them in the background: pass, fail, warn, error or skip.",
    labelNames: ["policy_name", "result"],
    registers: [],
    aggregator: "sum",
    collect() {
      this.reset();
      for (const { policy, result, objects } of read()) this.set({ policy_name: policy, result }, objects);
    },
  });
