/** Memory of a process and all below it as the limit of a container counts it: pages that processes share count once (`Pss` in /proc/<pid>/smaps_rollup). */
import { readdirSync, readFileSync } from "node:fs";

const LOOK_MS = 250;
const KIB_PER_MIB = 1_024;

/** Looks until it is stopped. */
export class PodMemory {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #most = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** As it is, in words. */
  now(): string {
    return words(this.#look());
  }

  /** The most that was seen, in words. */
  most(): string {
    return words(this.#most);
  }

  get mostMib(): number {
    return this.#most;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): number {
    const parents = new Map<number, number>();
    for (const name of readdirSync("/proc")) {
      if (/^\d+$/.test(name)) parents.set(Number(name), field(name, "status", "PPid"));
    }
    let sum = 0;
    for (const pid of parents.keys()) {
      let above: number | undefined = pid;
      while (above !== undefined && above !== this.#pid) above = parents.get(above);
      if (above === this.#pid) sum += field(`${pid}`, "smaps_rollup", "Pss") / KIB_PER_MIB;
    }
    this.#most = Math.max(this.#most, sum);
    return sum;
  }
}

/** A number of a process, as it stands in a file of /proc; 0 for processes that have gone. */
function field(pid: string, file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const words = (mib: number): string => `${Math.round(mib)} MiB`;
