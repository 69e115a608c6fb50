/** Reads questions: an object, a request, or any JSON, from one file or from many. */
import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { buildRequest, type Circumstances, ObjectError, readRequest } from "../../admission/build-request.js";
import { admissionQuestion, rawQuestion } from "../../admission/decode.js";
import { opened as openedDocuments } from "../../config/documents/documents.js";
import { parseResources } from "../../config/documents/source-document.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { manifestFiles } from "../../data/manifest-files.js";
import { parseSuspectYaml, warningText, YamlError, yamlText } from "../../data/yaml.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import { isForeign } from "../../offline/scan/foreign-files.js";
import type { Review } from "../../policy/index.js";
import {
  buildCertificateRequest,
  type CertificateRequestValues,
  certificateRequestValues,
  givenFlags,
} from "../certificate-request-options.js";

/** Files and details of the question, as given on the command line. */
export interface QuestionOptions extends CertificateRequestValues {
  /** Files and folders. */
  readonly object?: readonly string[];
  readonly old?: string;
  readonly operation?: string;
  readonly namespace?: string;
  readonly request?: string;
  readonly raw?: string;
  /** A file with a certification request, from which a CertificateRequest is made. */
  readonly csr?: string;
}

/** One question. */
export interface Question {
  readonly review: Review;
  /** Its file, and the index of its object, from 0. */
  readonly file: string;
  readonly index: number;
}

/** Questions, made on demand: files of a folder are read one after the other. */
export interface Questions {
  /** Whether there is certainly one: then it is answered as by the server. */
  readonly single: boolean;
  readonly questions: AsyncIterable<Question>;
}

/** Files taken from folders; test files contain no objects. */
const IN_FOLDERS = /(?<!\.test)\.(?:ya?ml|json)$/;
/** Depth of nested lists that are opened. */
const MAX_LISTS = 8;

/**
 * Reads the questions; the first is read at once, so that an error is reported before policies are loaded.
 * @param find the kinds that are not built in
 * @throws UsageError for invalid questions
 */
export async function questionsOf(
  options: QuestionOptions,
  io: CommandIo,
  find: Circumstances["find"],
): Promise<Questions> {
  const { object = [], old, operation, namespace, request, raw, csr } = options;
  if ([object[0], request, raw, csr].filter((given) => given !== undefined).length !== 1)
    throw new UsageError("give exactly one of --object, --csr, --request and --raw");
  const said = certificateRequestValues(options);
  const one = (review: Review, file: string): Questions => ({
    single: true,
    questions: arrived([{ review, file, index: 0 }]),
  });
  if (csr !== undefined) {
    if (old !== undefined) throw new UsageError("--old is the former state of an --object: a --csr has none");
    const made = buildCertificateRequest(await bytesOf(csr, io), csr, { ...said, namespace });
    return one(admissionQuestion(buildRequest({ object: made, operation, namespace })), csr);
  }
  const flags = givenFlags(said);
  if (flags !== "") throw new UsageError(`${flags}: only for a --csr; an object says these things itself`);
  if (raw !== undefined) return one(rawQuestion(only(await documentsOf(raw, io), raw)), raw);
  if (request !== undefined) return one(readRequest(only(await documentsOf(request, io), request), request), request);
  const before = old === undefined ? {} : { oldObject: only(await documentsOf(old, io), old) };
  const told = new Set<string>();
  const make: Make = (each, place) => {
    const doubt = (text: string): void => {
      if (!told.has(text)) say(io.stderr, `warning: ${placeText(place)}: ${text}`);
      told.add(text);
    };
    const known = { operation, namespace, doubt, ...(find && { find }) };
    return placed(() => admissionQuestion(buildRequest({ object: each, ...before, ...known })), place);
  };
  const files = filesOf(object);
  const [first] = files;
  if (first === undefined) throw new UsageError(`${object.join(", ")}: no file in it ends in .yaml, .yml or .json`);
  if (files.length > 1 && old !== undefined)
    throw new UsageError("--old is the former state of one object: give one file");
  if (files.length > 1 || first.inFolder) return { single: false, questions: fromFiles(files, make, io) };
  const documents = await documentsOf(first.path, io);
  const objects = documents.flatMap((document) => opened(document));
  const [written] = documents;
  if (documents.length === 1 && objects.length === 1 && objects[0] === written)
    return one(make(written, { file: first.path }), first.path);
  if (objects.length === 0)
    throw new UsageError(
      `${first.path} holds ${documents.length === 0 ? "no documents" : "an empty list"}, expected objects`,
    );
  if (old !== undefined)
    throw new UsageError(`--old is the former state of one object, and ${first.path} holds ${objects.length}`);
  return { single: false, questions: fromFiles([first], make, io, [documents]) };
}

async function* arrived(questions: readonly Question[]): AsyncGenerator<Question> {
  yield* questions;
}

interface GivenFile {
  readonly path: string;
  /** Whether the file is from a folder, which may contain other files than objects. */
  readonly inFolder: boolean;
}

async function* fromFiles(
  files: readonly GivenFile[],
  make: Make,
  io: CommandIo,
  known: readonly (readonly unknown[])[] = [],
): AsyncGenerator<Question> {
  for (const [file, { path, inFolder }] of files.entries()) {
    const documents = known[file] ?? (await documentsOf(path, io));
    for (const [index, object] of documents.flatMap((document) => opened(document)).entries()) {
      if (!inFolder || !isForeign(object)) {
        yield { review: make(object, { file: path, index }), file: path, index };
        continue;
      }
      const why = isKubernetesObject(object) ? "is for a program, and for no cluster" : "has no apiVersion and kind";
      say(io.stderr, `warning: ${path}: document ${index + 1} ${why}, and is left out`);
    }
  }
}

/** The place of an object: its file, and the number of the document from 0, if there may be several. */
interface Place {
  readonly file: string;
  readonly index?: number;
}

/** Makes a review of an object; the place is for messages. */
type Make = (object: unknown, place: Place) => Review;

/** Adds the object's place to an error. */
function placed(make: () => Review, place: Place): Review {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const at = error instanceof ObjectError && error.of === "object" ? lineOf(place, error.path) : undefined;
    throw new UsageError(`${at ?? placeText(place)}: ${error.message}`, { cause: error });
  }
}

const placeText = ({ file, index }: Place): string => (index === undefined ? file : `${file}: document ${index + 1}`);

/** `file:line:column` of a part of an object; undefined for standard input, which can't be read again. */
function lineOf({ file, index = 0 }: Place, path: readonly string[]): string | undefined {
  if (file === "-") return undefined;
  const { documents } = parseResources(yamlText(readFileSync(file)), file);
  const position = openedDocuments(documents)[index]?.positionOf(path);
  return position && `${file}:${position.line}:${position.column}`;
}

const isKubernetesObject = (value: unknown): boolean =>
  typeof member(value, "apiVersion") === "string" && typeof member(value, "kind") === "string";

/** The items of a list (`kind: List`, `kind: PodList`), or the document itself. */
function opened(document: unknown, depth = 0): readonly unknown[] {
  const [kind, apiVersion, items] = [text(document, "kind"), text(document, "apiVersion"), member(document, "items")];
  if (!kind.endsWith("List") || !Array.isArray(items) || depth > MAX_LISTS) return [document];
  const ofItems = kind.slice(0, -"List".length);
  return items.flatMap((item: unknown) => {
    // Lists of the API server do not repeat the kind in their items.
    const named = ofItems === "" || isKubernetesObject(item) || !isObject(item);
    return opened(named ? item : { ...item, apiVersion, kind: ofItems }, depth + 1);
  });
}

/** The files of paths: for folders those inside, including subfolders, by name. */
function filesOf(paths: readonly string[]): readonly GivenFile[] {
  return paths.flatMap((path): readonly GivenFile[] => {
    if (path === "-" || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      return [{ path, inFolder: false }];
    try {
      return manifestFiles(path, IN_FOLDERS).map((file) => ({ path: file, inFolder: true }));
    } catch (cause) {
      throw new UsageError(`cannot read ${path}: ${errorText(cause)}`, { cause });
    }
  });
}

/** The documents of a file; `-` is standard input. YAML reads JSON too. */
async function documentsOf(file: string, io: CommandIo): Promise<readonly unknown[]> {
  const text = yamlText(await bytesOf(file, io));
  try {
    return parseSuspectYaml(text, (doubt) => say(io.stderr, `warning: ${warningText(doubt, file)}`));
  } catch (error) {
    if (error instanceof YamlError) throw new UsageError(warningText(error, file), { cause: error });
    throw error;
  }
}

/** The one document of a file. */
function only(documents: readonly unknown[], file: string): unknown {
  if (documents.length !== 1) throw new UsageError(`${file} holds ${documents.length} documents, expected one`);
  return documents[0];
}

async function bytesOf(file: string, io: CommandIo): Promise<Buffer> {
  const content = file === "-" ? await buffer(io.stdin) : await readFile(file).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${file}`);
  return content;
}
