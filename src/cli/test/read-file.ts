/** Reads test files: cases for policies of any kind (docs/testing.md). All errors of a file are reported at once, with their places. */
import { readFile } from "node:fs/promises";
import { RE2JS } from "re2js";
import type { Path, Problem } from "../../config/documents/problem.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import { deepestNode, describeNode, nodeValue } from "../../config/documents/source-node.js";
import { ProblemSink } from "../../config/problem-sink.js";
import type { RecordValue } from "../../config/record-shape.js";
import { UsageError } from "../../data/command-io.js";
import { yamlText } from "../../data/yaml.js";
import { IdentityError, identify } from "../../kubernetes/identity.js";
import type { GroupVersionKind } from "../../kubernetes/names.js";
import type { Expected, Subject, TestCase } from "./case.js";
import { caseShape, EXPECTED_KEYS, fileShape, KIND_KEYS, PAYLOAD_KEYS } from "./fields.js";
import { type CaseContext, documentFrom, readReview } from "./payload.js";

type Written = Readonly<Record<string, unknown>>;
type CaseFields = RecordValue<typeof caseShape.fields>;

/** The result of reading a test file. */
export interface TestFile {
  /** Cases; empty when there are errors. */
  readonly cases: readonly TestCase[];
  /** Errors and warnings in order of place. */
  readonly problems: readonly Problem[];
  /** The files that its cases refer to, for watching. */
  readonly fixtures: readonly string[];
}

/**
 * Reads a test file.
 * @param find the kinds of objects that are not built in
 * @throws UsageError when it can't be read
 */
export async function readTestFile(file: string, find: CaseContext["find"]): Promise<TestFile> {
  const content = await readFile(file).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${file}`);
  const { documents, problems, warnings } = parseResources(yamlText(content), file);
  const [document, second] = documents;
  if (document === undefined || second !== undefined) {
    const none = {
      severity: "error",
      file,
      line: 1,
      column: 1,
      path: [],
      message: "expected a map with cases",
    } as const;
    const behind = second?.problem("error", [], "a test file holds one document: remove this second one");
    return { cases: [], problems: problems.length > 0 ? problems : [behind ?? none], fixtures: [] };
  }
  const reader = new FileReader(document, find);
  const cases = await reader.read();
  return { cases, problems: [...warnings, ...reader.problems], fixtures: reader.fixtures };
}

/** Reads one file (disposable). */
class FileReader {
  readonly #document: SourceDocument;
  readonly #sink: ProblemSink;
  readonly #elsewhere: Problem[] = [];
  readonly #fixtures = new Set<string>();

  constructor(
    document: SourceDocument,
    readonly find: CaseContext["find"],
  ) {
    this.#document = document;
    this.#sink = new ProblemSink(document);
  }

  get problems(): readonly Problem[] {
    return [...this.#sink.problems, ...this.#elsewhere];
  }

  get fixtures(): readonly string[] {
    return [...this.#fixtures];
  }

  async read(): Promise<TestCase[]> {
    const { root, value } = this.#document;
    if (root.kind !== "map") {
      const found = describeNode(root);
      this.#sink.error(
        [],
        `expected a map with cases, and policy, module, resource or cel, which they are about; found ${found}`,
      );
      return [];
    }
    const whole = value as Written;
    if (!("cases" in whole) && typeof whole.apiVersion === "string" && typeof whole.kind === "string") {
      const isKyverno = whole.apiVersion.startsWith("cli.kyverno.io/");
      const instead = isKyverno
        ? "Kyverno's test files are named kyverno-test.yaml, or by -f NAME"
        : "name this file behind `object:` in a case";
      this.#sink.error([], `expected a map with cases, found a ${whole.kind} of ${whole.apiVersion}: ${instead}`);
      return [];
    }
    fileShape.read(root, [], this.#sink);
    const kinds = ["policy", ...KIND_KEYS].filter((key) => isGiven(whole[key]));
    if (kinds.length > 1)
      this.#sink.keyError([kinds[1] ?? ""], `has ${kinds.join(" and ")}, but cases are about exactly one of them`);
    const written = Array.isArray(whole.cases) ? (whole.cases as readonly unknown[]) : [];
    if (Array.isArray(whole.cases) && written.length === 0)
      this.#sink.keyWarning(["cases"], "no case stands here, so nothing is tested");
    const cases: TestCase[] = [];
    for (const index of written.keys()) {
      const read = await this.#case(whole, index);
      if (read !== undefined) cases.push(read);
    }
    return this.problems.some(({ severity }) => severity === "error") ? [] : cases;
  }

  async #case(whole: Written, index: number): Promise<TestCase | undefined> {
    const path: Path = ["cases", index];
    const { node } = deepestNode(this.#document.root, path);
    const before = this.#sink.errorCount;
    const fields = caseShape.read(node, path, this.#sink);
    if (node.kind !== "map") return undefined;
    // Payloads are any JSON, null included: taken from the document unchanged.
    const written = (whole.cases as readonly Written[])[index] ?? (nodeValue(node) as Written);
    const place = this.#document.positionOf(path);
    const subject = this.#subject(whole, written, path);
    const context: CaseContext = {
      document: this.#document,
      path,
      sink: this.#sink,
      elsewhere: (problem) => this.#elsewhere.push(problem),
      find: this.find,
      fixture: (file) => this.#fixtures.add(file),
    };
    const review = await this.#review(written, path, context);
    const expected = fields === undefined ? undefined : await this.#expected(fields, written, context);
    if (subject === undefined || expected === undefined || this.#sink.errorCount > before) return undefined;
    // Its error is in another file, and reported there.
    if (review === undefined && expected.expect !== "refused" && expected.expect !== "loads") return undefined;
    const about = ["policy", ...KIND_KEYS].find((key) => isGiven(whole[key]));
    const placeOf = (key: string) => {
      if (Object.hasOwn(written, key)) return this.#document.keyPositionOf([...path, key]);
      return key === "policy" && about !== undefined ? this.#document.keyPositionOf([about]) : place;
    };
    const name = fields?.name ?? `case ${index + 1}`;
    return { file: this.#document.file, name, subject, ...(review && { review }), expected, place, placeOf };
  }

  #subject(whole: Written, written: Written, path: Path): Subject | undefined {
    const settings = asSettings(written.settings) ?? asSettings(whole.settings);
    const id = written.policy ?? whole.policy;
    if (typeof id === "string") {
      if (settings === undefined) return { kind: "entry", id };
      return { kind: "own", name: id, of: id, settings, entry: {} };
    }
    const kind = KIND_KEYS.find((key) => isGiven(whole[key]));
    if (kind === undefined) {
      this.#sink.error(
        path,
        "says of no policy: give policy (an id of policies.yaml), module or resource at the top of the file",
      );
      return undefined;
    }
    if (kind !== "module" && settings !== undefined) {
      this.#sink.error(path, "settings are for modules, and this file's policy is none");
      return undefined;
    }
    const { policy: _, cases: __, settings: ___, ...entry } = whole;
    const address = whole[kind];
    const name = typeof address === "string" ? address : kind;
    return { kind: "own", name, entry: { ...entry, ...(settings && { settings }) } };
  }

  async #review(written: Written, path: Path, context: CaseContext) {
    const given = PAYLOAD_KEYS.filter((key) => Object.hasOwn(written, key));
    if (written.expect === "refused" || written.expect === "loads") {
      if (given[0] !== undefined)
        this.#sink.keyError([...path, given[0]], `expect: ${written.expect} is about the settings: nothing is asked`);
      return undefined;
    }
    const [only, other] = given;
    if (only === undefined || other !== undefined) {
      this.#sink.error(
        path,
        `give exactly one of ${PAYLOAD_KEYS.join(", ")}${other === undefined ? "" : `: here are ${given.join(" and ")}`}`,
      );
      return undefined;
    }
    return readReview(written, only, context);
  }

  /** The object as the API server would have it, like the one that is asked about. */
  #inNamespace(object: unknown, written: Written): unknown {
    const { namespace } = written;
    const known = (kind: GroupVersionKind) => this.find(kind)?.namespaced;
    try {
      if (!Object.hasOwn(written, "object")) return object;
      return identify(object, { namespaced: known, ...(typeof namespace === "string" && { namespace }) }).object;
    } catch (error) {
      // It is compared as it stands.
      if (error instanceof IdentityError) return object;
      throw error;
    }
  }

  async #expected(fields: CaseFields, written: Written, context: CaseContext): Promise<Expected | undefined> {
    const { path } = context;
    // Nothing is expected by a key without a value either, except that the object becomes null.
    if (!EXPECTED_KEYS.some((key) => isGiven(written[key]) || (key === "mutated" && Object.hasOwn(written, key)))) {
      this.#sink.error(path, "expects nothing: add expect: allow, deny, skip or error");
      return undefined;
    }
    const { expect, allowed, message, messageContains, messageMatches, code, reason, warnings, patch, members } =
      fields;
    let pattern: RE2JS | undefined;
    try {
      pattern = messageMatches === undefined ? undefined : RE2JS.compile(messageMatches);
    } catch (error) {
      this.#sink.error(
        [...path, "messageMatches"],
        `no regular expression: ${error instanceof Error ? error.message : "unusable"}`,
      );
    }
    const { auditAnnotations } = fields;
    const mutated = Object.hasOwn(written, "mutated")
      ? await documentFrom(written.mutated, "mutated", context)
      : undefined;
    return {
      ...(expect !== undefined && { expect }),
      ...(allowed !== undefined && { allowed }),
      ...(message !== undefined && { message }),
      ...(messageContains !== undefined && { messageContains }),
      ...(pattern !== undefined && { messageMatches: pattern }),
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason }),
      ...(warnings !== undefined && { warnings }),
      ...(auditAnnotations !== undefined && { auditAnnotations }),
      ...(patch !== undefined && { patch }),
      ...(mutated !== undefined && { mutated: { object: this.#inNamespace(mutated.object, written) } }),
      ...(members !== undefined && { members }),
    };
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
const asSettings = (value: unknown): Written | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Written) : undefined;
