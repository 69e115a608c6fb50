/** Extism manifests: the modules of a plugin, and its rights. */
import type { Path, Problem } from "../documents/problem.js";
import {
  documentWithoutPlaces,
  type ParsedConfiguration,
  parseConfiguration,
  type SourceDocument,
} from "../documents/source-document.js";
import type { SourceNode } from "../documents/source-node.js";
import { type ModuleAddress, parseModuleAddress } from "../module-address.js";
import { ProblemSink } from "../problem-sink.js";
import { type ManifestFields, manifestShape } from "./fields.js";

// Reads a text in TOML as a document. The reader is loaded with the first such manifest.

/** Like `parseConfiguration` for YAML; mistakes in values have no place, only their path. */
async function parseToml(text: string, file: string): Promise<ParsedConfiguration> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return { document: documentWithoutPlaces(text, file, nodeOf(parse(text))), problems: [] };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column, message } = error;
    // Behind the reason stands a picture of the place, which is given as numbers.
    const [reason = ""] = message.split("\n", 1);
    const problem: Problem = { severity: "error", file, line, column, path: [], message: reason };
    return { problems: [problem] };
  }
}

function nodeOf(value: unknown): SourceNode {
  const place = { start: 0, end: 0 };
  if (Array.isArray(value)) return { kind: "list", ...place, items: value.map(nodeOf) };
  // A date or a time is read as the text that is written.
  if (value instanceof Date) return { kind: "scalar", ...place, style: "plain", value: value.toISOString() };
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, each]) => ({ key, keyStart: 0, keyEnd: 0, value: nodeOf(each) }));
    return { kind: "map", ...place, pairs };
  }
  const scalar = typeof value === "string" || typeof value === "boolean" || typeof value === "number";
  return { kind: "scalar", ...place, style: "plain", value: scalar ? value : String(value) };
}

/** A module of a manifest. */
export interface ManifestModule {
  /** The name by which others import from it; the main module has the name `main`. */
  readonly name: string;
  readonly source: { readonly address: ModuleAddress } | { readonly data: Uint8Array };
  /** SHA-256 in lower case. */
  readonly hash?: string;
  /** An error at the place of the module. */
  readonly error: (message: string) => Problem;
}

/** A manifest without mistakes of its own. Limits are as written. */
export interface PluginManifest {
  readonly main: ManifestModule;
  readonly others: readonly ManifestModule[];
  readonly config: Readonly<Record<string, string>>;
  /** Checked patterns, see `parseHostPatterns`; absent: it does not restrict hosts. */
  readonly allowedHosts?: readonly string[];
  /** Whether it was read from a local file; one from elsewhere grants no hosts. */
  readonly isLocal: boolean;
  readonly timeoutMs?: number;
  readonly maxPages?: number;
  readonly maxHttpResponseBytes?: number;
  readonly maxVarBytes?: number;
}

/** The result of reading a manifest. */
export type ManifestResult =
  | { readonly manifest: PluginManifest }
  | {
      /** At least one. */
      readonly problems: readonly Problem[];
    };

/** Largest manifest: one that contains its modules as base64 may be as large as those. In bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Most modules of a plugin: each is a new instance for every call. */
const MAX_MODULES = 16;
const MAIN = "main";
const WASM_MAGIC = [0x00, 0x61, 0x73, 0x6d] as const;

/** Whether these bytes are read as a manifest: not a module, and with a manifest's name or the beginning of JSON. @param location `ModuleAddress.location` */
export function isPluginManifest(bytes: Uint8Array, location: string): boolean {
  if (WASM_MAGIC.every((byte, index) => bytes[index] === byte)) return false;
  if (isToml(location) || /^[^?#]*\.json(?:[?#]|$)/i.test(location)) return true;
  return String.fromCharCode(bytes.find((byte) => byte > 0x20) ?? 0) === "{";
}

const isToml = (location: string): boolean => /^[^?#]*\.toml(?:[?#]|$)/i.test(location);

/**
 * Reads a manifest, JSON or TOML.
 * @param file its name for messages; for a local file its path, at whose folder paths in it start
 * @param location `ModuleAddress.location`
 */
export async function readPluginManifest(bytes: Uint8Array, file: string, location: string): Promise<ManifestResult> {
  const whole = (message: string): ManifestResult => ({
    problems: [{ severity: "error", file, line: 1, column: 1, path: [], message }],
  });
  if (bytes.length > MAX_BYTES) return whole(`a manifest has at most ${MAX_BYTES} bytes, this one ${bytes.length}`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return whole("a manifest is UTF-8, and this is not");
  }
  const { document, problems } = isToml(location) ? await parseToml(text, file) : parseConfiguration(text, file);
  if (document === undefined || problems.length > 0) return { problems };
  const sink = new ProblemSink(document);
  const fields = manifestShape.read(document.root, [], sink);
  const manifest = fields && manifestOf(fields, document, sink, location.startsWith("file:"));
  return manifest && sink.errorCount === 0 ? { manifest } : { problems: sink.problems };
}

function manifestOf(
  fields: ManifestFields,
  document: SourceDocument,
  sink: ProblemSink,
  isLocal: boolean,
): PluginManifest | undefined {
  const { wasm = [], memory = {}, config = {}, allowed_hosts, timeout_ms } = fields;
  if (wasm.length === 0 || wasm.length > MAX_MODULES) {
    sink.error(["wasm"], `expected a list of 1 to ${MAX_MODULES} modules, each with path, url or data`);
    return undefined;
  }
  const named = wasm.findIndex(({ name }) => name === MAIN);
  const mainAt = wasm.length === 1 || named === -1 ? wasm.length - 1 : named;
  const names = new Set<string>();
  const modules = wasm.map((item, index): ManifestModule | undefined => {
    const path: Path = ["wasm", index];
    const name = index === mainAt ? MAIN : (item.name ?? item.hash ?? String(index));
    if (names.has(name))
      sink.error(
        item.name === undefined ? path : [...path, "name"],
        `a second module is named ${JSON.stringify(name)}`,
      );
    names.add(name);
    const source = sourceOf(item, path, document.file, isLocal, sink);
    const error = (message: string): Problem =>
      document.problem("error", path, message, undefined, { code: "MODULE_MANIFEST" });
    return source && { name, source, error, ...(item.hash !== undefined && { hash: item.hash }) };
  });
  const main = modules[mainAt];
  const others = modules.filter((module, index) => module !== undefined && index !== mainAt) as ManifestModule[];
  if (main === undefined || others.length !== wasm.length - 1) return undefined;
  const { max_pages, max_http_response_bytes, max_var_bytes } = memory;
  return {
    main,
    others,
    config,
    isLocal,
    ...(allowed_hosts !== undefined && { allowedHosts: allowed_hosts }),
    ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }),
    ...(max_pages !== undefined && { maxPages: max_pages }),
    ...(max_http_response_bytes !== undefined && { maxHttpResponseBytes: max_http_response_bytes }),
    ...(max_var_bytes !== undefined && { maxVarBytes: max_var_bytes }),
  };
}

type Item = NonNullable<ManifestFields["wasm"]>[number];

function sourceOf(
  { path: file, url, data }: Item,
  path: Path,
  holder: string,
  isLocal: boolean,
  sink: ProblemSink,
): ManifestModule["source"] | undefined {
  const given = [file, url, data].filter((each) => each !== undefined).length;
  if (given !== 1) {
    sink.error(path, `expected exactly one of path, url and data, found ${given === 0 ? "none" : "several"}`);
    return undefined;
  }
  if (data !== undefined) return { data };
  const key = [...path, file === undefined ? "url" : "path"];
  if (file !== undefined && isLocal)
    return addressed(parseModuleAddress(/^\.{0,2}\//.test(file) ? file : `./${file}`, holder), key, sink);
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(url ?? "")?.[1];
  if (file === undefined && scheme === undefined) {
    sink.error(key, "expected an address with its scheme, such as https:// or registry://; a file stands under path");
    return undefined;
  }
  if (!isLocal && (file !== undefined || scheme === "file")) {
    sink.error(key, "a manifest that was downloaded can't name files of this machine: expected url or data");
    return undefined;
  }
  return addressed(parseModuleAddress(url ?? "", holder), key, sink);
}

function addressed(
  address: ReturnType<typeof parseModuleAddress>,
  path: Path,
  sink: ProblemSink,
): ManifestModule["source"] | undefined {
  if (!("mistake" in address)) return { address };
  sink.error(path, address.mistake, { code: "MODULE_ADDRESS" });
  return undefined;
}
