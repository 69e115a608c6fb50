/** What GitHub requires of SARIF beyond the standard, by its pages on code scanning: one result that lacks it has the whole document refused. */

export interface Sarif {
  readonly $schema: string;
  readonly version: string;
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly SarifRule[] } };
    readonly results: readonly SarifResult[];
  }[];
}

interface Text {
  readonly text: string;
}

interface SarifRule {
  readonly id: string;
  readonly shortDescription: Text;
  readonly fullDescription: Text;
  readonly help: Text;
}

interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: Text;
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: Readonly<Record<"startLine" | "startColumn" | "endLine" | "endColumn", number>>;
    };
  }[];
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** What is wrong with a document; empty: GitHub takes it. */
export function whatGitHubRefuses({ version, runs }: Sarif): readonly string[] {
  const wrong: string[] = [];
  if (version !== "2.1.0") wrong.push(`version ${version}`);
  if (runs.length !== 1) wrong.push(`${runs.length} runs`);
  for (const { tool, results } of runs) {
    const { name, rules } = tool.driver;
    if (!isText(name)) wrong.push("a tool without a name");
    if (rules.length > 25_000 || results.length > 25_000) wrong.push("too many rules or results");
    if (new Set(rules.map(({ id }) => id)).size !== rules.length) wrong.push("a rule twice");
    for (const { id, shortDescription, fullDescription, help } of rules) {
      const texts = [id, shortDescription?.text, fullDescription?.text, help?.text];
      if (!texts.every(isText)) wrong.push(`the rule ${id} lacks a text`);
    }
    for (const { ruleId, ruleIndex, level, message, locations } of results) {
      const about = `a result of ${ruleId} (${message?.text})`;
      if (rules[ruleIndex]?.id !== ruleId) wrong.push(`${about}: the rule's index`);
      if (!["error", "warning", "note"].includes(level)) wrong.push(`${about}: the level`);
      if (!isText(message?.text)) wrong.push(`${about}: no message`);
      if (locations?.length !== 1) wrong.push(`${about}: ${locations?.length} locations`);
      const physical = locations?.[0]?.physicalLocation;
      if (!isText(physical?.artifactLocation.uri)) wrong.push(`${about}: no URI`);
      const { startLine = 0, startColumn = 0, endLine = 0, endColumn = 0 } = physical?.region ?? {};
      const whole = [startLine, startColumn, endLine, endColumn].every((each) => Number.isInteger(each) && each >= 1);
      if (!whole || endLine < startLine || (endLine === startLine && endColumn <= startColumn))
        wrong.push(`${about}: region`);
    }
  }
  return wrong;
}

/** The places of all results: `file:line`. */
export const placesIn = ({ runs }: Sarif): readonly string[] =>
  runs.flatMap(({ results }) =>
    results.flatMap(({ locations }) =>
      locations.map(
        ({ physicalLocation: { artifactLocation, region } }) => `${artifactLocation.uri}:${region.startLine}`,
      ),
    ),
  );
