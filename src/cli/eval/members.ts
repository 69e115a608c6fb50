/** Lines with the answers of a group's members, in order of definition. */
import type { Config, ConfigEntry, GroupEntry } from "../../config/index.js";
import { printable } from "../../data/printable.js";
import type { Observation } from "../../policy/index.js";
import type { Verdict } from "../../policy/served/verdict.js";
import { outcomeText } from "../explain/explanation.js";
import type { Paint, Tone } from "../look/paint.js";
import { timeText } from "./words.js";

/** Most lines for values that one member has evaluated: more are counted. */
const MAX_TIMES = 10;
/** Most nested groups: a configuration can't have more. */
const MAX_DEPTH = 16;

const TONES: Readonly<Record<Observation["outcome"]["verdict"], Tone>> = {
  allow: "good",
  deny: "bad",
  error: "bad",
  skip: "quiet",
};

/** Lines about the members of a policy; none for one that is not a group. */
export function memberLines(config: Config, { entry, observations }: Verdict, paint: Paint): readonly string[] {
  const entries = new Map(config.entries.map((each) => [each.id, each]));
  const group = entries.get(entry.id);
  if (group?.kind !== "group") return [];
  const linesOf = ({ id, members }: GroupEntry, depth: number): readonly string[] => {
    const width = Math.max(...members.map(({ name }) => name.length));
    return members.flatMap(({ name, policy }) => {
      const times = observations.filter((observation) => observation.policy === `${id}/${name}`);
      const label = printable(name.padEnd(width));
      if (times.length === 0) return [`${label}  ${paint("quiet", "not evaluated")}`];
      const shown = times.slice(0, MAX_TIMES).map((time) => `${label}  ${observed(time, paint)}`);
      const left = times.length - shown.length;
      const more = left > 0 ? [`${label}  ${paint("quiet", `asked ${left} more times`)}`] : [];
      const inner: ConfigEntry | undefined = policy.kind === "reference" ? entries.get(policy.id) : policy;
      const below = inner?.kind === "group" && depth < MAX_DEPTH ? linesOf(inner, depth + 1) : [];
      return [...shown, ...more, ...below.map((line) => `  ${line}`)];
    });
  };
  return linesOf(group, 0);
}

function observed({ outcome, milliseconds }: Observation, paint: Paint): string {
  const message = outcome.verdict === "skip" ? outcome.reason : outcome.message;
  const said = outcomeText({ outcome: outcome.verdict, ...(message !== undefined && { message }) });
  const [, word = said, rest = ""] = /^([^:]+)(:.*)?$/s.exec(said) ?? [];
  return `${paint(TONES[outcome.verdict], word)}${printable(rest)}  ${paint("quiet", timeText(milliseconds))}`;
}
