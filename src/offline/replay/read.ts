/** Reads the requests of a file in order, in any format: JSON lines, JSON documents and lists of them, YAML. */
import { JsonError, parseJson } from "../../data/json.js";
import { LineReader } from "../../data/line-reader.js";
import { parseYamlDocuments, YamlError, yamlText } from "../../data/yaml.js";
import { ScanError } from "../scan/scan-error.js";
import { type Batch, textsOf } from "../scan/split/batch.js";
import { split } from "../scan/split/split.js";
import { requestsIn } from "./documents.js";
import type { Input } from "./inputs.js";
import type { Found } from "./question.js";

/** Longest line that is read: a request has 3 MiB at most, and its old object as much. */
const LONGEST_LINE = 16 * 1024 * 1024;
/** Bytes that show whether a file has a document in each line. */
const HEAD_BYTES = 1024 * 1024;
/** Bytes of a line feed, which belong to no line. */
const LINE_FEED = 1;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** All requests of an input. Unreadable parts are reported, and the rest is read where possible. */
export async function* readRequests(input: Input, read: (bytes: number) => void): AsyncGenerator<Found> {
  try {
    const pieces = input.open(read)[Symbol.asyncIterator]();
    const head: Buffer[] = [];
    let length = 0;
    let ended = false;
    while (length < HEAD_BYTES && !ended) {
      const { value, done } = await pieces.next();
      if (done === true) ended = true;
      else {
        head.push(Buffer.from(value));
        length += value.length;
      }
    }
    const begin = withoutMark(Buffer.concat(head));
    const all = async function* (): AsyncGenerator<Buffer> {
      yield begin;
      if (!ended) for await (const piece of { [Symbol.asyncIterator]: () => pieces }) yield piece;
    };
    if (hasLines(begin, ended)) yield* lineByLine(input.name, all());
    else yield* documentByDocument(input.name, all());
  } catch (error) {
    yield { kind: "unreadable", place: input.name, why: reason(error) };
  }
}

const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;

/** Whether one of the first lines is a whole JSON object: the very first may be the broken one. */
function hasLines(head: Buffer, whole: boolean): boolean {
  const lines = head.toString("utf8").split("\n");
  if (!whole) lines.pop();
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, 3)
    .some((line) => line.startsWith("{") && isJson(line));
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

async function* lineByLine(file: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Found> {
  let number = 0;
  for await (const line of linesOf(pieces)) {
    number += 1;
    const place = `${file}:${number}`;
    if (line === undefined) {
      yield { kind: "unreadable", place, why: `a line of more than ${LONGEST_LINE} bytes` };
      continue;
    }
    const text = line.toString("utf8").trim();
    // Some files separate documents like this.
    if (text === "" || text === "---") continue;
    yield* documentsIn(text, place, parseJson);
  }
}

function* documentsIn(text: string, place: string, parse: (text: string) => unknown): Iterable<Found> {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    yield { kind: "unreadable", place, why: reason(error) };
    return;
  }
  yield* requestsIn(document, place);
}

/** The lines of a stream; undefined for one that is too long. */
async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  const lines = new LineReader();
  let isLong = false;
  for await (const piece of pieces) {
    for (const line of lines.push(piece)) {
      yield isLong || line.length - LINE_FEED > LONGEST_LINE ? undefined : line;
      isLong = false;
    }
    isLong ||= lines.pending > LONGEST_LINE;
    if (isLong) lines.take();
  }
  if (isLong || lines.pending > 0) yield isLong ? undefined : lines.take();
}

async function* documentByDocument(file: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Found> {
  let number = 0;
  for await (const batch of split(file, pieces)) {
    for (const [index, text] of textsOf(batch).entries()) {
      number += 1;
      const place = batch.lines === undefined ? `${file}: document ${number}` : `${file}:${batch.lines[index] ?? 0}`;
      yield* documentsIn(text, place, (content) => parsed(content, batch));
    }
  }
}

function parsed(text: string, { form }: Batch): unknown {
  if (form === "json") return parseJson(text);
  const documents = parseYamlDocuments(yamlText(Buffer.from(text)));
  return documents.length === 1 ? documents[0] : documents;
}

/** The reason of an error for display: its first line, without internals. */
function reason(error: unknown): string {
  if (error instanceof JsonError || error instanceof YamlError || error instanceof ScanError)
    return firstLine(error.message);
  return error instanceof Error ? firstLine(error.message) : "unreadable";
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
