/** Reads the payload of a case: an object, a request, a raw payload or a CSR, in the test file or in a file beside it. */
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { buildRequest, type Circumstances, ObjectError, readRequest } from "../../admission/build-request.js";
import { admissionQuestion, rawQuestion } from "../../admission/decode.js";
import type { Path, Problem } from "../../config/documents/problem.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import type { ProblemSink } from "../../config/problem-sink.js";
import { UsageError } from "../../data/command-io.js";
import { yamlText } from "../../data/yaml.js";
import type { Review } from "../../policy/index.js";
import { buildCertificateRequest, readCertificateRequestKeys } from "../certificate-request-options.js";
import { CERTIFICATE_REQUEST_KEYS, type PAYLOAD_KEYS } from "./fields.js";

/** The place of a case, and receivers of errors. */
export interface CaseContext {
  readonly document: SourceDocument;
  readonly path: Path;
  readonly sink: ProblemSink;
  /** Receives problems of another file. */
  readonly elsewhere: (problem: Problem) => void;
  /** The kinds that are not built in. */
  readonly find: Required<Circumstances>["find"];
  /** Receives a file that the case refers to. */
  readonly fixture: (file: string) => void;
}

type Written = Readonly<Record<string, unknown>>;

/** The review of a case; undefined after at least one error. */
export async function readReview(
  written: Written,
  kind: (typeof PAYLOAD_KEYS)[number],
  context: CaseContext,
): Promise<Review | undefined> {
  const { sink, path } = context;
  const said = CERTIFICATE_REQUEST_KEYS.find((key) => Object.hasOwn(written, key));
  if (said !== undefined && kind !== "csr") {
    sink.keyError([...path, said], `'${said}' is for a csr only`);
    return undefined;
  }
  const former = Object.hasOwn(written, "old") ? "old" : "oldObject";
  const sources: Record<"object" | "oldObject", SourceDocument | undefined> = {
    object: undefined,
    oldObject: undefined,
  };
  try {
    if (kind === "raw") return rawQuestion(written.raw);
    if (kind !== "csr" && written[kind] === null) {
      sink.error([...path, kind], "nothing stands here: expected an object, or the name of a file");
      return undefined;
    }
    const content: Awaited<ReturnType<typeof documentFrom>> =
      kind === "csr" ? await requestOf(written, context) : await documentFrom(written[kind], kind, context);
    if (content === undefined) return undefined;
    if (kind === "rawFile") return rawQuestion(content.object);
    if (kind === "request") return readRequest(content.object, "request");
    const old = Object.hasOwn(written, former) ? await documentFrom(written[former], former, context) : undefined;
    if (old !== undefined && (typeof old.object !== "object" || old.object === null)) {
      sink.error([...path, former], "expected an object, or the name of a file with one");
      return undefined;
    }
    const { operation, namespace } = written;
    sources.object = content.document;
    sources.oldObject = old?.document;
    return admissionQuestion(
      buildRequest({
        operation: typeof operation === "string" ? operation : undefined,
        namespace: typeof namespace === "string" ? namespace : undefined,
        object: content.object,
        ...(old && { oldObject: old.object }),
        find: context.find,
        doubt: (text) => sink.warning([...path, kind], text),
      }),
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    if (error instanceof ObjectError) {
      const { of, path: place, reason } = error;
      const source = sources[of];
      if (source === undefined) sink.error([...path, of === "object" ? kind : former, ...place], reason);
      else context.elsewhere(source.problem("error", place, reason));
      return undefined;
    }
    sink.error([...path, error.key ?? kind], error.message.replace("--raw", "raw:"));
    return undefined;
  }
}

/** The document at a key of the case, or in the file that it refers to; undefined after an error. */
export async function documentFrom(
  inline: unknown,
  key: string,
  context: CaseContext,
): Promise<{ readonly object: unknown; readonly document?: SourceDocument } | undefined> {
  if (typeof inline !== "string") return { object: inline };
  const content = await contentOf(inline, key, context);
  if (content === undefined) return undefined;
  const { sink, path, elsewhere } = context;
  const { documents, problems, warnings } = parseResources(yamlText(content), fileOf(inline, context));
  for (const problem of [...warnings, ...problems]) elsewhere(problem);
  if (problems.length > 0) return undefined;
  const [only, second] = documents;
  if (only !== undefined && second === undefined) return { object: only.value, document: only };
  sink.error([...path, key], `${inline} holds ${documents.length} documents, expected one`);
  return undefined;
}

/** The CertificateRequest of a case's CSR. */
async function requestOf(written: Written, context: CaseContext): Promise<{ readonly object: unknown } | undefined> {
  const { csr, namespace } = written;
  if (typeof csr !== "string") {
    // Another type was already reported.
    if (csr === null) context.sink.error([...context.path, "csr"], "expected the name of a file, found nothing");
    return undefined;
  }
  if (Object.hasOwn(written, "old")) throw new UsageError("'old' is the former state of an object: a csr has none");
  const content = await contentOf(csr, "csr", context);
  if (content === undefined) return undefined;
  const parts = {
    ...readCertificateRequestKeys(written),
    namespace: typeof namespace === "string" ? namespace : undefined,
  };
  return { object: buildCertificateRequest(content, fileOf(csr, context), parts) };
}

async function contentOf(name: string, key: string, context: CaseContext): Promise<Buffer | undefined> {
  const file = fileOf(name, context);
  context.fixture(file);
  const content = await readFile(file).catch(() => undefined);
  if (content === undefined) context.sink.error([...context.path, key], `cannot read ${file}`);
  return content;
}

const fileOf = (name: string, { document }: CaseContext): string =>
  isAbsolute(name) ? name : join(dirname(document.file), name);
