/** A test in Kyverno's format in a folder of its own, evaluated for real. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { testEvaluator } from "../../../src/offline/kyverno-test/evaluate.js";
import { runTestFiles } from "../../../src/offline/kyverno-test/run.js";
import { scanTools } from "../../../src/offline/scan/scan-tools.js";
import { LookupFailure } from "../../../src/world/resources/resource-source.js";

/** Files by name; a value that is no text is written as JSON, lists of documents of a `.yaml` as documents. */
export type Files = Readonly<Record<string, unknown>>;

/** What came of a suite; its folder is called `DIR`. */
export interface SuiteResult {
  readonly passed: boolean;
  readonly out: string;
  readonly err: string;
  /** `resource: result reason: message`, with ` [rule]` where there is one. */
  readonly rows: readonly string[];
}

const TOOLS = scanTools({}, process);
after(() => TOOLS.close());

/** Nobody is asked but the files. */
const EVALUATE = testEvaluator({
  ...TOOLS,
  date: () => Date.parse("2026-01-01T00:00:00Z"),
  http: { send: () => new LookupFailure("nobody is asked in this test") },
});
const root = mkdtempSync(join(tmpdir(), "kyverno-suite-"));
after(() => rmSync(root, { recursive: true }));
let count = 0;

/** Writes files into a new folder. */
export function folderOf(files: Files): string {
  const folder = join(root, String(count++));
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, written(content));
  }
  return folder;
}

function written(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((each) => JSON.stringify(each)).join("\n---\n") : JSON.stringify(content);
}

/** Runs a test with these fields beside others that it needs; `policy.yaml` and `resources.yaml` are named unless the test names others. */
export async function runSuite(test: Readonly<Record<string, unknown>>, files: Files): Promise<SuiteResult> {
  const folder = folderOf({
    ...files,
    "kyverno-test.yaml": {
      apiVersion: "cli.kyverno.io/v1alpha1",
      kind: "Test",
      ...(files["policy.yaml"] !== undefined && { policies: ["policy.yaml"] }),
      ...(files["resources.yaml"] !== undefined && { resources: ["resources.yaml"] }),
      ...test,
    },
  });
  let out = "";
  let err = "";
  const output = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const { passed, rows } = await runTestFiles(
    [join(folder, "kyverno-test.yaml")],
    { color: false, now: () => 0 },
    EVALUATE,
    output,
  );
  const shown = rows.map(({ row: { resource, rule, result, reason, message } }) => {
    const said = message === reason ? "" : `: ${message}`;
    return `${resource}: ${result} ${reason}${said}${rule === "" ? "" : ` [${rule}]`}`;
  });
  return { passed, out: out.replaceAll(folder, "DIR"), err: err.replaceAll(folder, "DIR"), rows: shown };
}

/** A rule about resources of the core group. */
export const rule = (...resources: string[]) => ({
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE", "DELETE"],
  resources,
});

/** A ValidatingPolicy named `p` about Pods. */
export const policy = (spec: Readonly<Record<string, unknown>>, metadata: Readonly<Record<string, unknown>> = {}) => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name: "p", ...metadata },
  spec: { matchConstraints: { resourceRules: [rule("pods")] }, ...spec },
});

/** A resource of the core group, or of another. */
export const resource = (
  kind: string,
  name: string,
  more: Readonly<Record<string, unknown>> = {},
  apiVersion = "v1",
) => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
});

/** Validates one expression. */
export const validating = (expression: string, message = "no") => ({ validations: [{ expression, message }] });
