/** A text in TOML as a document. The reader is loaded with the first such manifest. */
import type { Problem } from "../documents/problem.js";
import { documentWithoutPlaces, type ParsedConfiguration } from "../documents/source-document.js";
import type { SourceNode } from "../documents/source-node.js";

/** As `parseConfiguration` for YAML; of mistakes in what is written the place is not known, only the path. */
export async function parseToml(text: string, file: string): Promise<ParsedConfiguration> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return { document: documentWithoutPlaces(text, file, nodeOf(parse(text))), problems: [] };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column, message } = error;
    // Behind the reason stands a picture of the place, which is told as numbers.
    const [reason = ""] = message.split("\n", 1);
    const problem: Problem = { severity: "error", file, line, column, path: [], message: reason };
    return { problems: [problem] };
  }
}

function nodeOf(value: unknown): SourceNode {
  const place = { start: 0, end: 0 };
  if (Array.isArray(value)) return { kind: "list", ...place, items: value.map(nodeOf) };
  // A date or a time is the text that it is written as.
  if (value instanceof Date) return { kind: "scalar", ...place, style: "plain", value: value.toISOString() };
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, each]) => ({ key, keyStart: 0, keyEnd: 0, value: nodeOf(each) }));
    return { kind: "map", ...place, pairs };
  }
  const scalar = typeof value === "string" || typeof value === "boolean" || typeof value === "number";
  return { kind: "scalar", ...place, style: "plain", value: scalar ? value : String(value) };
}
