/** `--test-case-selector`: selects expected results and resources to check (spec kyverno.md 8.8). */
import type { ExpectedResult } from "./test-file.js";

/** A parsed selector; invalid parts of it are reported and left out. */
export interface Selector {
  readonly errors: readonly string[];
  /** The part of an expected result to check; `undefined`: none. */
  select(expected: ExpectedResult): ExpectedResult | undefined;
  /** The pattern of resources, if any; an entry without names is then checked for matching ones. */
  readonly resource: ((name: string) => boolean) | undefined;
}

/** Reads `policy=P,rule=R,resource=X`, each with wildcards. */
export function parseSelector(text: string): Selector {
  const errors: string[] = [];
  const patterns: { policy: string[]; rule: string[]; resource: string[] } = { policy: [], rule: [], resource: [] };
  for (const part of text === "" ? [] : text.split(",")) {
    const [key = "", value, ...rest] = part.split("=");
    if (value === undefined || rest.length > 0) {
      errors.push(`Invalid test-case-selector argument (${part}). Parameter must be in the form \`<key>=<value>\`.`);
      continue;
    }
    const name = key.trim();
    if (name === "policy" || name === "rule" || name === "resource") patterns[name].push(value.trim());
    else errors.push(`Invalid test-case-selector (${part}). Parameter can only be policy, rule or resource.`);
  }
  const fits = (names: readonly string[], name: string) => names.every((pattern) => wildcardMatch(pattern, name));
  const limits = patterns.resource.filter((pattern) => pattern !== "*");
  const wanted = (name: string) => limits.some((pattern) => wildcardMatch(pattern, name));
  return {
    errors,
    resource: limits.length === 0 ? undefined : wanted,
    select(expected) {
      const { policy = "", rule = "", resources = [] } = expected;
      if (policy !== "" && !fits(patterns.policy, policy)) return undefined;
      if (rule !== "" && !fits(patterns.rule, rule)) return undefined;
      if (limits.length === 0 || resources.length === 0) return expected;
      const left = resources.filter(wanted);
      return left.length === 0 ? undefined : { ...expected, resources: left };
    },
  };
}

/** Matches a pattern: `*` stands for any text, `?` for one character. */
export function wildcardMatch(pattern: string, text: string): boolean {
  const symbols = [...pattern];
  const characters = [...text];
  let at = 0;
  let star = -1;
  let retry = 0;
  let i = 0;
  while (i < characters.length) {
    if (symbols[at] === "*") {
      star = at++;
      retry = i;
    } else if (at < symbols.length && (symbols[at] === "?" || symbols[at] === characters[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++retry;
    } else return false;
  }
  return symbols.slice(at).every((symbol) => symbol === "*");
}
