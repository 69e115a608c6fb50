/** sources.yml: hosts that need other CAs, or no TLS at all (spec kubewarden.md 1.7). */
import { X509Certificate } from "node:crypto";
import { ConfigFileError, ConfigFiles } from "./config-files.js";
import { formatProblem, type Path } from "./documents/problem.js";
import { parseConfiguration } from "./documents/source-document.js";
import { pairOf, type SourceNode } from "./documents/source-node.js";
import { ProblemSink } from "./problem-sink.js";
import { listOf, mapOf, mismatch, type Shape, text } from "./shape.js";

/** How hosts are reached. Keys are `host` or `host:port`, compared as they are written. */
export interface Sources {
  /** Hosts that may be reached by TLS without verification, or by plain HTTP. */
  readonly insecure: ReadonlySet<string>;
  /** Additional CAs by host, as PEM. */
  readonly authorities: ReadonlyMap<string, readonly string[]>;
}

/** No exceptions for any host. */
export const NO_SOURCES: Sources = { insecure: new Set(), authorities: new Map() };

/** A certificate in this file or in another one; read to PEM. */
function authority(files: ConfigFiles): Shape<readonly string[]> {
  return {
    label: "map with `type`, `path` or `data`",
    schema: {},
    read(node: SourceNode, path: Path, sink: ProblemSink) {
      if (node.kind !== "map") return mismatch(node, path, sink, "a map with type, and path or data");
      const type = pairOf(node, "type")?.value;
      const kind = type?.kind === "scalar" ? type.value : undefined;
      if (kind !== "Path" && kind !== "Data") {
        sink.error([...path, "type"], "expected Path or Data");
        return undefined;
      }
      const key = kind === "Path" ? "path" : "data";
      const value = pairOf(node, key)?.value;
      if (value === undefined) {
        sink.error(path, `missing key "${key}"`);
        return undefined;
      }
      const content = text("a string").read(value, [...path, key], sink);
      if (content === undefined) return undefined;
      try {
        return certificates(kind === "Path" ? files.readBytes(content) : Buffer.from(content), kind === "Path");
      } catch (cause) {
        sink.error([...path, key], cause instanceof Error ? cause.message : String(cause));
        return undefined;
      }
    },
  };
}

/**
 * Reads sources.yml. Unknown keys are ignored, and so is the `proxies` block, because the environment decides on proxies.
 * @throws ConfigFileError `error while loading sources from <path>: …`
 */
export function loadSources(path: string): Sources {
  const files = new ConfigFiles();
  const problems: string[] = [];
  try {
    const parsed = parseConfiguration(files.read(path), path);
    problems.push(...parsed.problems.map(formatProblem));
    if (parsed.document !== undefined && problems.length === 0) {
      const sink = new ProblemSink(parsed.document);
      const sources = readSources(parsed.document.root, files, sink);
      if (sink.errorCount === 0) return sources;
      problems.push(...sink.problems.map(formatProblem));
    }
  } catch (cause) {
    if (!(cause instanceof ConfigFileError)) throw cause;
    problems.push(cause.message);
  }
  throw new ConfigFileError(`error while loading sources from ${path}: ${problems.join("\n")}`);
}

function readSources(root: SourceNode, files: ConfigFiles, sink: ProblemSink): Sources {
  if (root.kind !== "map") {
    mismatch(root, [], sink, "a map with insecure_sources and source_authorities");
    return NO_SOURCES;
  }
  const insecure = pairOf(root, "insecure_sources")?.value;
  const authorities = pairOf(root, "source_authorities")?.value;
  const hosts = isSomething(insecure) ? listOf(text("a host")).read(insecure, ["insecure_sources"], sink) : [];
  const lists = isSomething(authorities)
    ? mapOf(listOf(authority(files))).read(authorities, ["source_authorities"], sink)
    : {};
  return {
    insecure: new Set(hosts),
    authorities: new Map(Object.entries(lists ?? {}).map(([host, pems]) => [host, pems.flat()])),
  };
}

function isSomething(node: SourceNode | undefined): node is SourceNode {
  return node !== undefined && !(node.kind === "scalar" && node.value === null);
}

/**
 * Certificates as PEM, one each.
 * @throws ConfigFileError
 */
export function certificates(bytes: Buffer, mayBeDer: boolean): readonly string[] {
  const blocks = bytes.toString("latin1").match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  try {
    if (blocks !== null) return blocks.map((block) => new X509Certificate(block).toString());
    if (mayBeDer) return [new X509Certificate(bytes).toString()];
  } catch (cause) {
    throw new ConfigFileError("Invalid certificate: Raw certificate is not in PEM nor in DER encoding", { cause });
  }
  throw new ConfigFileError("Invalid certificate: Raw certificate is not in PEM nor in DER encoding");
}
