/** Results as SARIF 2.1.0, which code scanning reads: a rule for each policy or code, a result for each failure, warning and error, with file and line. */
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { counted } from "../../data/counted.js";
import { escapedLines } from "../../data/printable.js";
import type { Place, ReportedPolicy } from "./finding.js";
import { resourceName } from "./junit.js";
import type { ReportedEntry } from "./policy-report.js";
import { qualifiedName, severityOf } from "./result-entry.js";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";
const VERSION = "2.1.0";
const TITLE = "policies.kyverno.io/title";
const DESCRIPTION = "policies.kyverno.io/description";

/** Most results of a document: GitHub refuses those with more. */
export const MOST_SARIF_RESULTS = 25_000;
/** Most characters of one text, so that a full document stays below GitHub's 10 MB, compressed. */
const MOST_CHARACTERS = 4096;

/** Scores for the order in code scanning: a number from 0 to 10 as a text. */
const SCORES: Readonly<Record<string, string>> = {
  critical: "9.5",
  high: "8.0",
  medium: "5.5",
  low: "3.0",
  info: "0.0",
};

/** A rule. GitHub requires all texts. */
export interface SarifRule {
  readonly id: string;
  /** Default: the id. */
  readonly title?: string | undefined;
  /** Default: the title. */
  readonly description?: string | undefined;
  readonly help: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A result. GitHub refuses the whole document where one has no file and line. */
export interface SarifResult {
  readonly rule: string;
  readonly level: "error" | "warning" | "note";
  readonly text: string;
  /** Columns count from 1 in code points; absent: the line's beginning. */
  readonly place: Place & { readonly column?: number; readonly endColumn?: number | undefined };
  /** The name of its object. */
  readonly object?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A document, and the number of results that are not in it: of too many the errors come first. */
export interface SarifDocument {
  /** JSON with a newline. */
  readonly text: string;
  readonly leftOut: number;
}

/** The document of rules and results; rules are those named, once each. */
export function sarifDocument(rules: readonly SarifRule[], results: readonly SarifResult[]): SarifDocument {
  const distinct = new Map(rules.map((rule) => [rule.id, rule]));
  const indexes = new Map([...distinct.keys()].map((id, index) => [id, index]));
  const kept =
    results.length <= MOST_SARIF_RESULTS
      ? results
      : results.toSorted((a, b) => weightOf(a) - weightOf(b)).slice(0, MOST_SARIF_RESULTS);
  const root = sourceRoot();
  const run = {
    tool: { driver: { name: "policy-server", rules: [...distinct.values()].map(ruleOf) } },
    columnKind: "unicodeCodePoints",
    results: kept.map((result) => resultOf(result, indexes, root)),
  };
  const text = `${JSON.stringify({ $schema: SCHEMA, version: VERSION, runs: [run] }, undefined, 2)}\n`;
  return { text, leftOut: results.length - kept.length };
}

/** The warning about results that are left out. */
export const leftOutOfSarif = (count: number): string =>
  `SARIF: ${counted(count, "more result")} left out, since GitHub takes ${MOST_SARIF_RESULTS}`;

const weightOf = ({ level }: SarifResult): number => (level === "error" ? 0 : 1);

function ruleOf({ id, title = id, description = title, help, properties }: SarifRule) {
  return {
    id,
    shortDescription: sarifMessage(title),
    fullDescription: sarifMessage(description),
    help: sarifMessage(help),
    ...(properties && { properties }),
  };
}

function resultOf(
  { rule, level, text, place, object, properties }: SarifResult,
  indexes: ReadonlyMap<string, number>,
  root: string,
) {
  const { file, line, column = 1, endColumn = column + 1 } = place;
  const region = { startLine: Math.max(line, 1), startColumn: column, endLine: Math.max(line, 1), endColumn };
  const logical = object === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: object, kind: "resource" }] };
  return {
    ruleId: rule,
    ruleIndex: indexes.get(rule) ?? -1,
    level,
    message: sarifMessage(text),
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file, root) }, region }, ...logical }],
    ...(object !== undefined && { partialFingerprints: { "policyResource/v1": `${rule}/${object}` } }),
    ...(properties && { properties }),
  };
}

/** A foreign text without links (3.11.6), which would lead where its author wants in lists of code scanning. */
function sarifMessage(text: string): { readonly text: string } {
  const whole = escapedLines(text).replace(/\[(?=[^\]]*\]\()/g, "\\[");
  return { text: whole.length <= MOST_CHARACTERS ? whole : `${whole.slice(0, MOST_CHARACTERS - 1)}…` };
}

/** The folder to which places are relative: the repository's, in which code scanning looks for files; else the working directory. */
function sourceRoot(): string {
  const start = process.cwd();
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

/** The URI of a file: relative to the root if it is inside. */
function uriOf(file: string, root: string): string {
  const own = relative(root, resolve(file));
  if (own === ".." || own.startsWith(`..${sep}`) || isAbsolute(own)) return pathToFileURL(file).href;
  return own.split(sep).map(encodeURIComponent).join("/");
}

/** The document of findings. A finding about an object without a file is placed at its policy, and without one at a name that stands for the object. */
export function sarifReport(entries: readonly ReportedEntry[], policies: readonly ReportedPolicy[]): SarifDocument {
  const asked = [...new Set([...policies, ...entries.map(({ policy }) => policy)])];
  const results = entries.flatMap(({ policy, entry, place }): SarifResult[] => {
    const level = LEVELS[entry.result];
    if (level === undefined) return [];
    const object = resourceName(entry.resources[0]);
    return [
      {
        rule: qualifiedName(policy),
        level,
        text: `${object}: ${entry.message ?? entry.result}`,
        place: place ?? policy.place ?? { file: join("cluster", object), line: 1 },
        object,
        properties: { ...entry.properties },
      },
    ];
  });
  return sarifDocument(asked.map(policyRule), results);
}

const LEVELS: Readonly<Record<string, SarifResult["level"]>> = { fail: "error", error: "error", warn: "warning" };

function policyRule(policy: ReportedPolicy): SarifRule {
  const { annotations, source, place } = policy;
  const severity = severityOf(policy);
  const where = place === undefined ? "" : ` of ${place.file}, line ${place.line}`;
  const name = qualifiedName(policy);
  return {
    id: name,
    title: annotations[TITLE] || undefined,
    description: annotations[DESCRIPTION]?.trim() || undefined,
    help: `Change the object so that the policy ${name}${where} lets it pass, or the policy.`,
    properties: {
      source,
      ...(severity !== undefined && { "security-severity": SCORES[severity], severity }),
    },
  };
}
