/**
 * Runs test files of public repositories that hold Kyverno's ValidatingPolicies, and compares every row with what Kyverno's own command says. Not part
 * of `npm test`: the repositories are fetched by whoever wants to know (docs/testing.md).
 *
 *     node dist/test/public/kyverno-tests.js kyverno/policies=FOLDER kyverno/kyverno=FOLDER [--rows FILE] [--peer COMMAND] [--cache FILE] [--kinds KIND,…]
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseArgs, promisify } from "node:util";
import { isJsonObject } from "../../src/data/same-value.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { findTestFiles, runTestFiles, testEvaluator } from "../../src/offline/kyverno-test/index.js";
import { scanTools } from "../../src/offline/scan/scan-tools.js";
import { LookupFailure } from "../../src/world/resources/resource-source.js";

/** A row, as both sides have it. */
interface Row {
  readonly policy: string;
  readonly rule: string;
  readonly resource: string;
  readonly result: string;
  readonly reason: string;
  readonly message: string;
}

/** Kyverno's command needs about a second for a suite; with mocks that are missing it asks the network. */
const PEER_MS = 60_000;

const TOOLS = scanTools({}, process);

/** Mocks are all there is: the network is left alone. */
const EVALUATE = testEvaluator({
  ...TOOLS,
  date: () => Date.now(),
  http: { send: () => new LookupFailure("the network is left alone") },
});

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: "string" }, peer: { type: "string" }, cache: { type: "string" }, kinds: { type: "string" } },
});
const KINDS = new Set((values.kinds ?? "ValidatingPolicy,NamespacedValidatingPolicy").split(","));
const known = knownRows(values.rows ?? "test/vectors/kyverno/test-rows.jsonl");
const cache = cached(values.cache);
let differing = 0;

for (const argument of positionals) {
  const [repository = "", root = ""] = argument.split("=");
  let total = 0;
  let equal = 0;
  let passed = 0;
  let suites = 0;
  const began = process.cpuUsage();
  for (const file of await findTestFiles(root)) {
    if (!names(file)) continue;
    suites++;
    const suite = relative(root, dirname(file));
    const ours = await ownRows(file, root);
    const theirs = once(known.get(`${repository} ${suite}`), file) ?? (await peerRows(file, root));
    if (theirs === undefined) {
      console.log(`${repository} ${suite}: nothing to compare with`);
      continue;
    }
    const { missing, added, same } = compared(ours.rows, theirs);
    total += same + missing.length;
    equal += same;
    passed += ours.rows.filter(({ result }) => result !== "Fail").length;
    if (missing.length + added.length === 0) continue;
    differing++;
    console.log(`${repository} ${suite}: ${ours.error}`);
    for (const row of missing) console.log(`  - ${text(row)}`);
    for (const row of added) console.log(`  + ${text(row)}`);
  }
  const { user, system } = process.cpuUsage(began);
  const seconds = ((user + system) / 1e6).toFixed(1);
  console.log(`${repository}: ${suites} suites, ${equal} of ${total} rows equal, ${passed} pass, ${seconds} s of CPU`);
}
if (values.cache !== undefined) writeFileSync(values.cache, JSON.stringify(cache));
TOOLS.close();
process.exitCode = differing > 0 ? 1 : 0;

/** Whether a test file's policies are of the kinds that this is about. */
function names(file: string): boolean {
  try {
    return parseYamlDocuments(readFileSync(file, "utf8")).some(
      (document) =>
        isJsonObject(document) &&
        Array.isArray(document.policies) &&
        document.policies.some((path) => holds(join(dirname(file), String(path)))),
    );
  } catch {
    return false;
  }
}

function holds(path: string): boolean {
  if (!existsSync(path)) return false;
  if (statSync(path).isDirectory()) return readdirSync(path).some((name) => holds(join(path, name)));
  if (!/\.ya?ml$/.test(path)) return false;
  return parseYamlDocuments(readFileSync(path, "utf8")).some(
    (document) => isJsonObject(document) && KINDS.has(String(document.kind)),
  );
}

async function ownRows(file: string, root: string): Promise<{ readonly rows: readonly Row[]; readonly error: string }> {
  let error = "";
  const run = await runTestFiles([file], { color: false, now: TOOLS.now }, EVALUATE, {
    out: () => {},
    err: (text) => {
      error += text;
    },
  });
  return { rows: run.rows.map(({ row }) => ({ ...row, resource: inside(root, row.resource) })), error: error.trim() };
}

/** A payload is shown by its path, which is not the same on every machine. */
function inside(root: string, resource: string): string {
  return resource.startsWith(`${root}/`) ? relative(root, resource) : resource;
}

function knownRows(file: string): Map<string, Row[]> {
  const rows = new Map<string, Row[]>();
  if (!existsSync(file)) return rows;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line === "") continue;
    const row = JSON.parse(line) as Row & { readonly repo: string; readonly suite: string };
    const key = `${row.repo} ${row.suite}`;
    rows.set(key, [...(rows.get(key) ?? []), row]);
  }
  return rows;
}

/** The rows that are known of a file with several documents stand there once for each of them. */
function once(rows: readonly Row[] | undefined, file: string): readonly Row[] | undefined {
  if (parseYamlDocuments(readFileSync(file, "utf8")).length === 1) return rows;
  return rows && [...new Map(rows.map((row) => [text(row), row])).values()];
}

function cached(file: string | undefined): Record<string, Row[]> {
  return file !== undefined && existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Row[]>)
    : {};
}

/** The rows of Kyverno's own command for one file; it looks into the folders below as well, so that others' rows are left out. */
async function peerRows(file: string, root: string): Promise<readonly Row[] | undefined> {
  const found = cache[file];
  if (found !== undefined) return found;
  if (values.peer === undefined) return undefined;
  const options = { cwd: root, timeout: PEER_MS, maxBuffer: 64 * 1024 * 1024 };
  const args = ["test", dirname(file), "-o", "json", "--detailed-results"];
  const { stdout } = await promisify(execFile)(values.peer, args, options).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? "",
  }));
  const rows = stdout
    .split(/^Loading test /m)
    .filter((part) => part.startsWith(` ( ${file} )`))
    .flatMap((part) => {
      const [json] = /^\[$[\s\S]*?^\]$/m.exec(part) ?? [];
      return json === undefined ? [] : (JSON.parse(json) as Record<string, string>[]);
    })
    .map((row) => ({
      policy: row.POLICY ?? "",
      rule: row.RULE ?? "",
      resource: inside(root, row.RESOURCE ?? ""),
      result: row.RESULT ?? "",
      reason: row.REASON ?? "",
      message: row.Message ?? "",
    }));
  cache[file] = rows;
  return rows;
}

/** What is different, whatever the order. An excluded row beside another of the same resource is an accident of Kyverno's order, and left out. */
function compared(ours: readonly Row[], theirs: readonly Row[]) {
  const left = new Map<string, Row[]>();
  for (const row of ours) left.set(text(row), [...(left.get(text(row)) ?? []), row]);
  const missing: Row[] = [];
  let same = 0;
  for (const row of theirs) {
    if (left.get(text(row))?.pop() !== undefined) same++;
    else if (row.reason !== "Excluded" || !theirs.some((other) => besides(other, row))) missing.push(row);
  }
  return { missing, added: [...left.values()].flat(), same };
}

function besides(other: Row, row: Row): boolean {
  return other.reason !== "Excluded" && other.policy === row.policy && other.resource === row.resource;
}

function text({ policy, rule, resource, result, reason, message }: Row): string {
  return JSON.stringify([policy, rule, resource, result, reason, message]);
}
