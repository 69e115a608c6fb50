/** Test files: cases for policies of any kind (docs/testing.md). */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { admissionQuestion, rawQuestion } from "../admission/decode.js";
import { isJsonObject } from "../data/same-value.js";
import { doubtText, parseDoubtfulYaml, yamlText } from "../data/yaml.js";
import type { Review } from "../policy/index.js";
import { buildCertificateRequest, buildRequest, readRequest } from "./build-request.js";
import { CERTIFICATE_REQUEST_OPTIONS, readCertificateRequestKeys } from "./certificate-request-options.js";
import { UsageError } from "./io.js";

/** What a case can expect of a policy's outcome. `warn` is an allow or deny with a warning. */
export const EXPECTATIONS = ["allow", "deny", "warn", "skip", "error"] as const;
export type Expectation = (typeof EXPECTATIONS)[number];

/** A case, ready to be put to its policy. */
export interface TestCase {
  readonly name: string;
  readonly policy: string;
  readonly review: Review;
  readonly expect: Expectation;
  /** What the message must be (of `warn`: one of the warnings; of `skip`: the reason). */
  readonly message: string | undefined;
  /** What it must contain. */
  readonly messageContains: string | undefined;
}

const CERTIFICATE_REQUEST_KEYS: readonly string[] = CERTIFICATE_REQUEST_OPTIONS.map(({ testKey }) => testKey);
const CASE_KEYS = new Set([
  ..."name policy object old operation namespace request raw csr expect message messageContains".split(" "),
  ...CERTIFICATE_REQUEST_KEYS,
]);
const FILE_KEYS = new Set(["policy", "cases"]);

/** Told of what is doubtful, with its place. */
type Warn = (line: string) => void;

/** Where a case stands. */
interface CaseOrigin {
  readonly file: string;
  /** The case, for messages. */
  readonly place: string;
  readonly warn: Warn;
}

/**
 * Reads a test file.
 * @param warn told of what is doubtful in it and in the objects that it names
 * @throws UsageError that names the file and the case
 */
export async function readTestFile(file: string, warn: Warn): Promise<readonly TestCase[]> {
  const document = await readDocument(file, warn);
  if (!isJsonObject(document) || !Array.isArray(document.cases))
    throw new UsageError(`${file}: expected 'cases', a list`);
  refuseUnknown(document, FILE_KEYS, file);
  const cases: TestCase[] = [];
  for (const [i, written] of (document.cases as readonly unknown[]).entries()) {
    const place = `${file}: cases[${i}]`;
    if (!isJsonObject(written)) throw new UsageError(`${place}: expected a map`);
    refuseUnknown(written, CASE_KEYS, place);
    const policy = textOf(written, "policy", place) ?? textOf(document, "policy", file);
    if (policy === undefined) throw new UsageError(`${place}: no 'policy', neither here nor for the file`);
    const expect = EXPECTATIONS.find((each) => each === written.expect);
    if (expect === undefined) throw new UsageError(`${place}: 'expect' must be one of ${EXPECTATIONS.join(", ")}`);
    cases.push({
      name: textOf(written, "name", place) ?? `case ${i + 1}`,
      policy,
      review: await reviewOf(written, { file, place, warn }),
      expect,
      message: textOf(written, "message", place),
      messageContains: textOf(written, "messageContains", place),
    });
  }
  return cases;
}

async function reviewOf(
  written: Readonly<Record<string, unknown>>,
  { file, place, warn }: CaseOrigin,
): Promise<Review> {
  const given = ["object", "request", "raw", "csr"].filter((key) => Object.hasOwn(written, key));
  if (given.length !== 1) throw new UsageError(`${place}: give exactly one of object, csr, request and raw`);
  const said = CERTIFICATE_REQUEST_KEYS.find((key) => Object.hasOwn(written, key));
  if (said !== undefined && given[0] !== "csr") throw new UsageError(`${place}: '${said}' is for a csr only`);
  const value = async (key: string): Promise<unknown> => {
    const inline = written[key];
    return typeof inline === "string" && key !== "raw" ? readDocument(join(dirname(file), inline), warn) : inline;
  };
  if (given[0] === "csr" && typeof written.csr !== "string")
    throw new UsageError(`${place}: 'csr' must be a file's name`);
  if (given[0] === "raw") return rawQuestion(written.raw);
  if (given[0] === "request") return readRequest(await value("request"), `${place}.request`);
  const operation = textOf(written, "operation", place);
  const namespace = textOf(written, "namespace", place);
  const csr = textOf(written, "csr", place) ?? "";
  try {
    const request = buildRequest({
      operation,
      namespace,
      object:
        given[0] === "csr" ? await requestOf(written, join(dirname(file), csr), namespace) : await value("object"),
      ...(Object.hasOwn(written, "old") && { oldObject: await value("old") }),
    });
    return admissionQuestion(request);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${place}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** The CertificateRequest of a case's CSR. */
async function requestOf(
  written: Readonly<Record<string, unknown>>,
  csr: string,
  namespace: string | undefined,
): Promise<unknown> {
  if (Object.hasOwn(written, "old")) throw new UsageError("'old' is the former state of an object: a csr has none");
  const content = await readFile(csr).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${csr}`);
  return buildCertificateRequest(content, csr, { ...readCertificateRequestKeys(written), namespace });
}

async function readDocument(file: string, warn: Warn): Promise<unknown> {
  const content = await readFile(file).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${file}`);
  let documents: unknown[];
  try {
    documents = parseDoubtfulYaml(yamlText(content), (doubt) => warn(doubtText(doubt, file)));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (documents.length !== 1) throw new UsageError(`${file} holds ${documents.length} documents, expected one`);
  return documents[0];
}

function refuseUnknown(written: object, known: ReadonlySet<string>, place: string): void {
  const unknown = Object.keys(written).filter((key) => !known.has(key));
  if (unknown.length > 0)
    throw new UsageError(`${place}: unknown key '${unknown[0]}', known are ${[...known].join(", ")}`);
}

function textOf(written: Readonly<Record<string, unknown>>, key: string, place: string): string | undefined {
  const value = written[key];
  if (value === undefined || typeof value === "string") return value;
  throw new UsageError(`${place}: '${key}' must be a text`);
}
