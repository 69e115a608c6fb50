/** `read`: prints the documents of files as the server parses them, which is as Kubernetes does. */
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { NodeBuilder } from "../../config/documents/node-builder.js";
import type { SourceNode } from "../../config/documents/source-node.js";
import { type CommandIo, say } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { EXIT, worstOf } from "../../data/exit-codes.js";
import { fileProblem } from "../../data/file-problem.js";
import { stringifyJson } from "../../data/json.js";
import {
  Lines,
  readYamlStream,
  warningText,
  type YamlDocument,
  type YamlNode,
  yamlText,
  yamlWarnings,
} from "../../data/yaml.js";

/** A value's JSON Pointer and UTF-16 offset. */
interface ValuePlace {
  /** The pointer (RFC 6901); `""` for the document. */
  readonly pointer: string;
  /** The offset of the value, not of its key; for an alias that of its anchor's value. */
  readonly offset: number;
}

/** The place of every value of a parsed document, whose aliases are bounded; each before its members. */
function placesOf(root: YamlNode): Generator<ValuePlace> {
  return places(new NodeBuilder(Number.POSITIVE_INFINITY).build(root, []), "");
}

function* places(node: SourceNode, pointer: string): Generator<ValuePlace> {
  yield { pointer, offset: node.start };
  if (node.kind === "list")
    for (const [index, item] of node.items.entries()) yield* places(item, `${pointer}/${index}`);
  if (node.kind === "map") for (const { key, value } of node.pairs) yield* places(value, `${pointer}/${escaped(key)}`);
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** The name of standard input. */
const STANDARD_INPUT = "-";

/**
 * Prints every document as a line of JSON; an empty document is left out. An unreadable part is reported on standard error as `file:line:column:
 * why`, after the documents before it, and the next file follows. Duplicate keys and ignored parts are warnings there.
 * @param files `-`: standard input; none: the same
 * @param positions whether each line has the places of the document and its values
 * @returns the exit code: 0; 1 when a file could not be read to its end, 2 when it is not there
 */
export async function readCommand(files: readonly string[], positions: boolean, io: CommandIo): Promise<number> {
  const codes: number[] = [];
  for (const file of files.length === 0 ? [STANDARD_INPUT] : files) {
    const text = await contentOf(file, io);
    if (text instanceof Error) {
      say(io.stderr, `${file}: ${fileProblem(text)}`);
      codes.push(EXIT.NOT_ASKED);
      continue;
    }
    const { documents, error } = readYamlStream(text);
    const lines = positions ? new Lines(text) : undefined;
    for (const document of documents) {
      const line = lines === undefined ? document.value : located(document, file, lines);
      if (!io.stdout.write(`${stringifyJson(line)}\n`)) await new Promise((done) => io.stdout.once("drain", done));
    }
    for (const doubt of yamlWarnings(text, documents)) say(io.stderr, `warning: ${warningText(doubt, file)}`);
    if (error !== undefined) {
      say(io.stderr, warningText(error, file));
      codes.push(EXIT.NO);
    }
  }
  return worstOf(codes);
}

async function contentOf(file: string, { stdin }: CommandIo): Promise<string | Error> {
  try {
    return yamlText(file === STANDARD_INPUT ? await buffer(stdin) : await readFile(file));
  } catch (error) {
    return error instanceof Error ? error : new Error(errorText(error));
  }
}

function located({ root, value }: YamlDocument, file: string, lines: Lines): unknown {
  const { line, column } = lines.place(root.start);
  const positions: Record<string, string> = {};
  for (const { pointer, offset } of placesOf(root)) {
    const place = lines.place(offset);
    positions[pointer] = `${place.line}:${place.column}`;
  }
  return { file, line, column, document: value, positions };
}
