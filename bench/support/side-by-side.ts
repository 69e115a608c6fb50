/** Servers measured in turns, so that a slow moment of the machine strikes all of them, and what comes of it as figures and as ratios by round. */
import type { Load } from "./load-client.js";
import { load, type MeasuredServer, type Question } from "./measured-server.js";
import { spread } from "./statistics.js";

/** From here on the client may be what holds the server back. */
const BUSY_CLIENT = 0.9;

/** One of the servers compared. */
export interface Side {
  readonly name: string;
  readonly server: MeasuredServer;
  readonly question: Question;
}

/** One round of one side. */
export interface Round extends Load {
  /** Microseconds of the server's processor time for a request. */
  readonly cpu: number;
}

/** How long and how often. */
export interface Plan {
  readonly rounds: number;
  /** Seconds of each side in each round. */
  readonly seconds: number;
  /** Seconds of each side before the first round. */
  readonly warmUp: number;
  readonly connections: number;
}

/** One round of one side. */
export async function measure({ server, question }: Side, connections: number, seconds: number): Promise<Round> {
  const before = server.usage().cpu;
  const seen = await load(question, connections, seconds);
  return { ...seen, cpu: ((server.usage().cpu - before) * 1e6) / seen.requests };
}

/**
 * Warms all sides up, then measures them in turns; every other round in reverse order.
 * @returns the rounds by the sides' names
 * @throws Error when a request is not allowed: a denial would be compared with other work
 */
export async function inTurns(sides: readonly Side[], plan: Plan): Promise<ReadonlyMap<string, readonly Round[]>> {
  const rounds = new Map<string, Round[]>(sides.map(({ name }) => [name, []]));
  if (plan.warmUp > 0) for (const side of sides) await measure(side, plan.connections, plan.warmUp);
  for (let index = 0; index < plan.rounds; index++) {
    for (const side of index % 2 === 0 ? sides : [...sides].reverse()) {
      const round = await measure(side, plan.connections, plan.seconds);
      if (round.allowed !== round.requests)
        throw new Error(`${side.name} denied ${round.requests - round.allowed} of ${round.requests} requests`);
      rounds.get(side.name)?.push(round);
    }
  }
  return rounds;
}

/** The figures of one side, in one line. */
export function figures(rounds: readonly Round[]): string {
  const of = (field: keyof Round): number[] => rounds.map((round) => round[field]);
  const busy = Math.max(...of("clientCpu"));
  return (
    `${spread(of("perSecond"), 0)}/s  p50 ${spread(of("p50"))}  p99 ${spread(of("p99"))} ms  ${spread(of("cpu"), 0)} µs of CPU a request` +
    (busy > BUSY_CLIENT ? `  (the client was busy for ${Math.round(busy * 100)} % of the time)` : "")
  );
}

/** One figure of one side through that of another, round by round. */
export function ratio(own: readonly Round[], other: readonly Round[], field: keyof Round): string {
  return spread(own.map((round, index) => round[field] / (other[index]?.[field] ?? Number.NaN)));
}
