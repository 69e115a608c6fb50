import { Gauge } from "prom-client";

/** What is known of a ConfigMap for break-glass; the texts are bounded and printable. */
export interface BreakGlassSample {
  readonly state: "in_force" | "refused";
  readonly by: string;
  /** The reason that it gives, or why it is refused. */
  readonly why: string;
}

/** The ConfigMap for break-glass, read at every scrape: at most one series. */
export const breakGlassGauge = (read: () => BreakGlassSample | undefined): Gauge =>
  new Gauge({
    name: "policy_server_break_glass",
    help: "1 while break-glass is in force, or asked for and refused: who is said to have written it, and why.",
    labelNames: ["state", "by", "why"],
    registers: [],
    aggregator: "max",
    collect() {
      this.reset();
      const sample = read();
      if (sample !== undefined) this.set({ ...sample }, 1);
    },
  });
