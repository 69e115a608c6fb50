/**
 * Kyverno's public policies through `apply -p`, against what its own command reports. Not part of the tests: policies and resources stay in their
 * repositories, and results in a folder of vectors.
 *
 *   node dist/test/public/kyverno-reports.js VECTORS kyverno/policies=FOLDER kyverno/kyverno=FOLDER
 */
import { existsSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { runCommandLine } from "../../src/cli/command-line.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";

interface Row {
  readonly repo: string;
  readonly suite: string;
  readonly policyFile: string;
  readonly [member: string]: unknown;
}

interface TestFile {
  readonly policies?: readonly string[];
  readonly resources?: readonly string[];
  readonly exceptions?: readonly string[];
  readonly jsonPayload?: string;
  readonly jsonPayloads?: readonly string[];
  readonly httpPayloads?: readonly string[];
  readonly envoyPayloads?: readonly string[];
  readonly variables?: string;
  readonly userinfo?: string;
  readonly context?: string;
}

/** What of a result is compared. */
const COMPARED = [
  "policy",
  "rule",
  "resource",
  "result",
  "message",
  "properties",
  "scored",
  "category",
  "severity",
  "source",
] as const;

const [vectors = "", ...repositories] = process.argv.slice(2);
const folders = new Map(repositories.map((each) => each.split("=", 2) as [string, string]));
const rows = readFileSync(join(vectors, "reports.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);
const suites = JSON.parse(readFileSync(join(vectors, "suites.json"), "utf8")) as readonly {
  readonly repo: string;
  readonly suite: string;
  readonly file: string;
}[];

const passed = new Map<string, number>();
let differences = 0;
const suiteOf = ({ repo, suite }: Pick<Row, "repo" | "suite">): string => `${repo} ${suite}`;
// A folder may hold several test files; results are of the folder.
for (const [name, { repo, suite, file }] of new Map(suites.map((each) => [suiteOf(each), each]))) {
  const expected = rows.filter((row) => suiteOf(row) === name);
  const root = folders.get(repo);
  if (root === undefined || !existsSync(join(root, suite, file))) continue;
  const folder = join(root, suite);
  const found: Record<string, unknown>[] = [];
  for (const document of parseYamlDocuments(readFileSync(join(folder, file), "utf8")) as TestFile[]) {
    for (const policy of document.policies ?? []) {
      const policyFile = normalize(join(suite, policy));
      if (!expected.some((row) => row.policyFile === policyFile)) continue;
      for (const result of await results(folder, policy, document)) found.push({ policyFile, ...result });
    }
  }
  for (const row of expected) {
    const wanted = compared({ ...row });
    const at = found.findIndex((each) => isDeepStrictEqual(each, { policyFile: row.policyFile, ...wanted }));
    if (at >= 0) {
      found.splice(at, 1);
      passed.set(repo, (passed.get(repo) ?? 0) + 1);
    } else difference(`missing in ${suite}`, { policyFile: row.policyFile, ...wanted });
  }
  for (const each of found) difference(`unexpected in ${suite}`, each);
}
for (const repo of folders.keys()) {
  console.log(`${repo}: ${passed.get(repo) ?? 0} of ${rows.filter((row) => row.repo === repo).length} results`);
}
process.exitCode = differences === 0 ? 0 : 1;

function difference(what: string, row: unknown): void {
  differences++;
  console.log(`${what}: ${JSON.stringify(row)}`);
}

function compared(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(COMPARED.map((key) => [key, row[key] === "" ? undefined : row[key]]));
}

/** The results of a policy file with everything that its test names. */
async function results(folder: string, policy: string, test: TestFile): Promise<Record<string, unknown>[]> {
  const at = (path: string): string => join(folder, path);
  const option = (flag: string, paths: readonly string[] = []) => paths.flatMap((path) => [flag, at(path)]);
  const payloads = test.jsonPayloads ?? (test.jsonPayload === undefined ? [] : [test.jsonPayload]);
  const args = [
    "apply",
    at(policy),
    ...option("--resource", test.resources),
    ...option("--json", payloads),
    ...option("--http-payload", test.httpPayloads),
    ...option("--envoy-payload", test.envoyPayloads),
    ...option("--exception", test.exceptions),
    ...option("--values-file", test.variables === undefined ? [] : [test.variables]),
    ...option("--userinfo", test.userinfo === undefined ? [] : [test.userinfo]),
    ...option("--context-file", test.context === undefined ? [] : [test.context]),
    "-p",
    "--output-format",
    "json",
  ];
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = text(stdout);
  const said = text(stderr);
  await runCommandLine(args, { env: {}, stdin: Readable.from([]), stdout, stderr });
  stdout.end();
  stderr.end();
  const complaint = await said;
  if (complaint !== "") console.log(`${policy}: ${complaint.trim()}`);
  const reports = (await printed).split("\n").filter((line) => line.startsWith("{"));
  return reports.flatMap((line) => (JSON.parse(line) as { results: Record<string, unknown>[] }).results.map(rowOf));
}

async function text(stream: PassThrough): Promise<string> {
  let all = "";
  for await (const chunk of stream) all += String(chunk);
  return all;
}

function rowOf(result: Record<string, unknown>): Record<string, unknown> {
  const [resource = {}] = result.resources as Record<string, string>[];
  const { apiVersion = "", kind = "", namespace = "", name = "" } = resource;
  const named = Object.keys(resource).length === 0 ? undefined : `${apiVersion}/${kind}/${namespace}/${name}`;
  return compared({ ...result, resource: named });
}
