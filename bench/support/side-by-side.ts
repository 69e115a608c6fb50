/** Servers measured in turns, so that a slow moment of the machine strikes all of them, and what comes of it as figures and as ratios by round. */
import type { TargetRound } from "./alternating-client.js";
import { load, loadInTurns, type MeasuredServer, type Question } from "./measured-server.js";
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
export interface Round extends Omit<TargetRound, "ticks"> {
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

/** Milliseconds of a side's turn. The machine's speed changes within seconds. */
const TURN_MS = 250;

/**
 * Warms all sides up, then measures them in rounds: in each they are asked in turns of a quarter of a second, until each has had its time.
 * @returns the rounds by the sides' names
 * @throws Error when a request is not allowed: a denial would be compared with other work
 */
export async function inTurns(sides: readonly Side[], plan: Plan): Promise<ReadonlyMap<string, readonly Round[]>> {
  const { connections, seconds, warmUp } = plan;
  const rounds = new Map<string, Round[]>(sides.map(({ name }) => [name, []]));
  if (warmUp > 0) for (const { question } of sides) await load(question, connections, warmUp);
  const questions = sides.map(({ question }) => question);
  const used = (): readonly number[] => sides.map(({ server }) => server.usage().cpu);
  for (let index = 0; index < plan.rounds; index++) {
    const before = used();
    const seen = await loadInTurns(questions, connections, Math.round((seconds * 1000) / TURN_MS), TURN_MS);
    const after = used();
    for (const [side, { name }] of sides.entries()) {
      const own = seen[side];
      if (!own) throw new Error(`${name} was not asked`);
      if (own.allowed !== own.requests)
        throw new Error(`${name} denied ${own.requests - own.allowed} of ${own.requests} requests`);
      // While others are asked it does nothing.
      const cpu = (((after[side] ?? Number.NaN) - (before[side] ?? Number.NaN)) * 1e6) / own.requests;
      rounds.get(name)?.push({ ...own, cpu });
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
