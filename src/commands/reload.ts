/**
 * Hot reload: a new set of policies is built beside the one that serves, and swapped in whole. A set that is worse is kept out.
 */
import type { Evaluator } from "../evaluation/evaluator.js";
import type { PolicySet } from "../evaluation/policy-set.js";
import type { Logger } from "../telemetry/logger.js";
import type { Metrics } from "../telemetry/metrics.js";
import { type LoadResult, type PolicySource, problemLines } from "./load.js";

/** What a reloader works on. */
export interface ReloaderOptions {
  readonly source: PolicySource;
  readonly evaluator: Evaluator;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** What is served at the beginning. */
  readonly loaded: LoadResult;
}

/** Reloads on request, one at a time. */
export class Reloader {
  private readonly options: ReloaderOptions;
  private current: LoadResult;
  private running: Promise<void> | undefined;
  private again = false;

  constructor(options: ReloaderOptions) {
    this.options = options;
    this.current = options.loaded;
  }

  /** Files and folders to look after: those of the last configuration that could be read, served or not. */
  get files(): readonly string[] {
    return this.current.files;
  }

  /** Reloads now; a call during a reload makes one more follow. Never rejects. */
  reload(): Promise<void> {
    if (this.running !== undefined) {
      this.again = true;
      return this.running;
    }
    this.running = this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(): Promise<void> {
    do {
      this.again = false;
      await this.once();
    } while (this.again);
  }

  private async once(): Promise<void> {
    const { source, evaluator, metrics, logger } = this.options;
    const serving = evaluator.policies;
    const loaded = await source.load(serving.generation + 1);
    for (const line of problemLines(loaded)) logger.warn(line);
    const lost = loaded.fatal === undefined ? newlyUnavailable(serving, loaded.policies) : [];
    // Whatever was read is looked after from now on, so that mending it is noticed.
    this.current = { ...this.current, files: [...new Set([...loaded.files, ...this.current.files])] };
    if (loaded.fatal !== undefined || lost.length > 0) {
      metrics.reloaded("rejected");
      const reason = loaded.fatal ?? `policies that are served now could not be loaded: ${lost.join(", ")}`;
      logger.error("reload kept out: the policies that served before go on serving", { reason });
      return;
    }
    this.current = loaded;
    evaluator.use(loaded.policies);
    metrics.reloaded("applied");
    logger.info("reloaded policies", { generation: loaded.policies.generation, ...changes(serving, loaded.policies) });
  }
}

/** Policies that answer now and would not after the reload. One that is gone from the configuration was removed on purpose. */
function newlyUnavailable(before: PolicySet, after: PolicySet): string[] {
  return [...after.entries.values()]
    .filter(({ id, unavailable }) => unavailable !== undefined && before.entries.get(id)?.unavailable === undefined)
    .filter(({ id }) => before.entries.has(id))
    .map(({ id }) => id);
}

function changes(before: PolicySet, after: PolicySet): { readonly added: string[]; readonly removed: string[] } {
  return {
    added: [...after.entries.keys()].filter((id) => !before.entries.has(id)),
    removed: [...before.entries.keys()].filter((id) => !after.entries.has(id)),
  };
}
