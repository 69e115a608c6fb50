/** The metadata that a Kubewarden policy carries in a custom section of its module, spec kubewarden.md 6.1. */
import { errorText } from "../../data/error-text.js";
import { parseJson } from "../../data/json.js";
import { isJsonObject } from "../../data/same-value.js";
import type { PolicyRule } from "../../policy/policy.js";
import { WasmLoadError } from "../errors.js";
import { customSection } from "../rewrite/binary/rewrite.js";
import type { ExecutionMode } from "../run/guest/call.js";

/** The custom section with the metadata. */
export const METADATA_SECTION = "io.kubewarden.metadata";
/** Most bytes of the metadata: the main thread parses it in one go. Usual ones have some KiB. */
const MAX_METADATA_BYTES = 256 * 1024;
const MODES: ReadonlySet<string> = new Set<ExecutionMode>(["kubewarden-wapc", "wasi", "opa", "gatekeeper", "extism"]);

/** The used part of the metadata. Rules and lists in it grant nothing at run time: they are its author's suggestions. */
export interface PolicyMetadata {
  readonly protocolVersion?: string;
  /** `kubewarden-wapc` when the section lacks it. */
  readonly executionMode: ExecutionMode;
  readonly minimumKubewardenVersion?: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The author's suggested webhook rules. */
  readonly rules: readonly PolicyRule[];
  /** Whether it may change objects. */
  readonly mutating: boolean;
  /** Whether it evaluates any JSON instead of Kubernetes objects. */
  readonly raw: boolean;
  /** Kinds that it reads. */
  readonly contextAwareResources: readonly { readonly apiVersion: string; readonly kind: string }[];
  /** Host capabilities that it uses, if declared. */
  readonly hostCapabilities: readonly string[];
}

/**
 * Reads the first metadata section.
 * @returns undefined when the module has none
 * @throws WasmLoadError `wasm-metadata` when it is invalid
 */
export function readMetadata(module: WebAssembly.Module): PolicyMetadata | undefined {
  const section = WebAssembly.Module.customSections(module, METADATA_SECTION)[0];
  return section && parseSection(section);
}

/**
 * The same from the bytes of a module that isn't compiled.
 * @throws WasmLoadError `wasm-metadata` when it is invalid, `wasm-invalid` when the bytes are not a module
 */
export function readMetadataOfBytes(bytes: Uint8Array): PolicyMetadata | undefined {
  const section = customSection(bytes, METADATA_SECTION);
  return section && parseSection(section);
}

function parseSection(section: ArrayBuffer | Uint8Array): PolicyMetadata {
  try {
    if (section.byteLength > MAX_METADATA_BYTES)
      throw new Error(`it has ${section.byteLength} bytes, more than ${MAX_METADATA_BYTES}`);
    return metadataOf(parseJson(new TextDecoder("utf-8", { fatal: true }).decode(section)));
  } catch (error) {
    const reason = errorText(error);
    throw new WasmLoadError("wasm-metadata", `cannot parse custom section of wasm module: ${reason}`, { cause: error });
  }
}

function metadataOf(value: unknown): PolicyMetadata {
  const fields = record(value, "the metadata");
  if (!Array.isArray(fields.rules)) throw new Error("missing field `rules`");
  if (typeof fields.mutating !== "boolean") throw new Error("missing field `mutating`");
  const executionMode = fields.executionMode ?? "kubewarden-wapc";
  if (typeof executionMode !== "string" || !MODES.has(executionMode))
    throw new Error(`unknown executionMode ${JSON.stringify(executionMode)}, expected one of ${[...MODES].join(", ")}`);
  const { minimumKubewardenVersion: minimum } = fields;
  if (typeof minimum === "string" && !/^v?\d+\.\d+/.test(minimum))
    throw new Error(`minimumKubewardenVersion ${JSON.stringify(minimum)} is not a version such as 1.30.0`);
  const policyType = fields.policyType ?? "kubernetes";
  if (policyType !== "kubernetes" && policyType !== "raw")
    throw new Error(`unknown policyType ${JSON.stringify(policyType)}, expected kubernetes or raw`);
  const versions = { ...optionalText(fields, "protocolVersion"), ...optionalText(fields, "minimumKubewardenVersion") };
  const contextAwareResources = list(fields.contextAwareResources, "contextAwareResources").map((entry) => {
    const { apiVersion, kind } = record(entry, "an entry of contextAwareResources");
    if (typeof apiVersion !== "string" || typeof kind !== "string")
      throw new Error("an entry of contextAwareResources needs apiVersion and kind");
    return { apiVersion, kind };
  });
  return {
    ...versions,
    executionMode: executionMode as ExecutionMode,
    annotations: Object.fromEntries(
      Object.entries(record(fields.annotations ?? {}, "annotations")).map(([key, text]) => [key, String(text)]),
    ),
    rules: fields.rules.filter(isJsonObject).map(ruleOf),
    mutating: fields.mutating,
    raw: policyType === "raw",
    contextAwareResources,
    hostCapabilities: texts(fields.hostCapabilities),
  };
}

const ruleOf = ({ operations, apiGroups, apiVersions, resources }: Readonly<Record<string, unknown>>): PolicyRule => ({
  operations: texts(operations),
  apiGroups: texts(apiGroups),
  apiVersions: texts(apiVersions),
  resources: texts(resources),
});

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new Error(`${what} must be an object`);
  return value;
}

function list(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error(`${what} must be a list`);
  return value;
}

function optionalText<K extends string>(fields: Readonly<Record<string, unknown>>, key: K): { [P in K]?: string } {
  const value = fields[key];
  if (value === undefined || value === null) return {};
  if (typeof value !== "string") throw new Error(`${key} must be a string`);
  return { [key]: value } as { [P in K]: string };
}
