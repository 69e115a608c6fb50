/** What can be edited of what is served: entries as they stand in the policies file, and the documents that an entry names. */
import { ConfigFileError, ConfigFiles } from "../../config/config-files.js";
import { parseConfiguration } from "../../config/documents/source-document.js";
import { type Pair, pairOf, type SourceNode } from "../../config/documents/source-node.js";
import type { PageSource } from "../api.js";
import type { PageSources } from "../playground.js";
import { MAX_DRAFT_LENGTH } from "../questions.js";

/** Characters of all of them: they are part of one answer. */
const MAX_LENGTH = 2 * 1024 * 1024;

/** By id; undefined for modules, and for what is too long to be a draft. */
export function pageSources(file: string): PageSources {
  const files = new ConfigFiles();
  const sources = new Map<string, PageSource | undefined>();
  try {
    const text = files.read(file);
    const root = parseConfiguration(text, file).document?.root;
    let left = MAX_LENGTH;
    for (const pair of root?.kind === "map" ? root.pairs : []) {
      const source = sourceOf(pair, text, file, files);
      const fits = source !== undefined && source.text.length <= Math.min(left, MAX_DRAFT_LENGTH);
      if (fits) left -= source.text.length;
      sources.set(pair.key, fits ? source : undefined);
    }
  } catch (error) {
    // Whoever serves the file says what is wrong with it.
    if (!(error instanceof ConfigFileError)) throw error;
  }
  return sources;
}

function sourceOf({ keyStart, value }: Pair, text: string, file: string, files: ConfigFiles): PageSource | undefined {
  if (value.kind !== "map" || pairOf(value, "module") !== undefined || pairOf(value, "url") !== undefined)
    return undefined;
  const resource = pairOf(value, "resource")?.value;
  if (resource !== undefined && value.pairs.length === 1) return documentsOf(resource, file, files);
  return { kind: "entry", text: `${text.slice(keyStart, value.end).trimEnd()}\n` };
}

/** The files that an entry names, one behind the other. */
function documentsOf(resource: SourceNode, file: string, files: ConfigFiles): PageSource | undefined {
  const names = resource.kind === "list" ? resource.items : [resource];
  const texts: string[] = [];
  for (const name of names) {
    if (name.kind !== "scalar" || typeof name.value !== "string") return undefined;
    try {
      texts.push(...files.resources(name.value, file).map((each) => files.read(each).trimEnd()));
    } catch (error) {
      if (!(error instanceof ConfigFileError)) throw error;
      return undefined;
    }
  }
  return { kind: "resource", text: `${texts.map((each) => each.replace(/^---[ \t]*\n/, "")).join("\n---\n")}\n` };
}
