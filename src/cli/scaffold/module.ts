/** `scaffold from-module`: an entry of policies.yaml or a manifest for a cluster from a module's metadata. */
import { readFile, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { type CommandIo, UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { inlineYaml, yamlName } from "../../data/print-yaml.js";
import { readMetadataOfBytes } from "../../wasm/index.js";
import { withLoaded } from "./loaded.js";
import { checkedName, commentText, type Plan, simpleName } from "./plan.js";

/** The used properties of a module. */
export interface ModuleSummary {
  readonly file: string;
  /** Its title if that can be a name, otherwise the file's name. */
  readonly name: string;
  readonly metadata: ReturnType<typeof readMetadataOfBytes>;
}

/** Largest module that is read: larger than any that is served. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Reads a module.
 * @param name the policy's name; default: its own
 * @throws UsageError when it is not a module
 */
export async function readModule(file: string, name?: string): Promise<ModuleSummary> {
  if ((await stat(file).catch(() => undefined))?.isDirectory() === true)
    throw new UsageError(`${file} is a folder: name the module in it`);
  let metadata: ModuleSummary["metadata"];
  try {
    const bytes = await readFile(file);
    if (bytes.length > MAX_BYTES) throw new Error("the file is too large for a module");
    metadata = readMetadataOfBytes(bytes);
  } catch (error) {
    throw new UsageError(`${file}: ${errorText(error)}`, { cause: error });
  }
  const parts = file.split(/[\\/]/);
  const own = basename(file).replace(/\.wasm$/, "");
  // Most modules are named policy.wasm, in a folder with the policy's name.
  const called = own === "policy" ? (parts.at(-2) ?? own) : own;
  const title = metadata?.annotations["io.kubewarden.policy.title"] ?? "";
  const found = [title, called, own].map(simpleName).find((each) => each !== "") ?? "policy";
  return { file, name: checkedName(name ?? found), metadata };
}

/** The entry of policies.yaml, with the module's message about missing settings. */
export async function modulePlan(
  module: ModuleSummary,
  folder: string,
  policies: string,
  env: CommandIo["env"],
): Promise<Plan> {
  const entry = entryText(module, folder);
  const refusal = await withLoaded(entry, join(folder, policies), env, async ({ problems }) =>
    problems.find(({ code, severity }) => code === "SETTINGS_INVALID" && severity === "error"),
  );
  const check = `npx policy-server check ${policies}`;
  if (refusal === undefined) return { entry: { id: module.name, text: entry }, files: [], next: [check] };
  const said = commentText(refusal.message);
  return {
    entry: {
      id: module.name,
      text: entry.replace(
        SETTINGS,
        () => `  # It refuses to be without: ${said}\n  # Its documentation says what it takes.\n`,
      ),
    },
    files: [],
    next: [`$EDITOR ${policies}   # ${module.name}: the module wants settings`, check],
  };
}

const SETTINGS = "  # What it takes, its documentation says.\n";

function entryText({ file, name, metadata }: ModuleSummary, folder: string): string {
  const path = relative(folder, file).split(sep).join("/");
  const lines = [
    ...aboutLines(metadata),
    `${yamlName(name)}:`,
    `  module: ${inlineYaml(path)}`,
    ...(metadata?.mutating === true ? ["  # It changes objects.", "  allowedToMutate: true"] : []),
    ...listed("hostCapabilities", metadata?.hostCapabilities ?? [], "What it asks the server for, as its author says."),
    ...resources(metadata, "  "),
    `${SETTINGS}  settings: {}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** A ClusterAdmissionPolicy, for Kubewarden's controller and `serve --from-cluster`. */
export function manifestOf({ file, name, metadata }: ModuleSummary): string {
  const { annotations = {}, rules = [], mutating = false } = metadata ?? {};
  const kept = ["io.kubewarden.policy.severity", "io.kubewarden.policy.category"].filter(
    (key) => annotations[key] !== undefined,
  );
  const written =
    rules.length > 0
      ? rules
      : [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE", "UPDATE"] }];
  const lines = [
    ...aboutLines(metadata),
    "apiVersion: policies.kubewarden.io/v1",
    "kind: ClusterAdmissionPolicy",
    "metadata:",
    `  name: ${yamlName(name)}`,
    ...(kept.length > 0 ? ["  annotations:", ...kept.map((key) => `    ${key}: ${inlineYaml(annotations[key])}`)] : []),
    "spec:",
    "  # Where the cluster gets it from: push the module to a registry, and name it registry://host/repository:tag.",
    `  module: ${inlineYaml(`file://${file}`)}`,
    `  mutating: ${mutating}`,
    ...(rules.length > 0 ? [] : ["  # The module says nothing of rules: write down what it is to be asked about."]),
    "  rules:",
    ...written.flatMap((rule) =>
      (["apiGroups", "apiVersions", "resources", "operations"] as const).map(
        (key, index) => `    ${index === 0 ? "-" : " "} ${key}: ${inlineYaml(rule[key] ?? [])}`,
      ),
    ),
    ...resources(metadata, "  "),
    "  # What it takes, its documentation says.",
    "  settings: {}",
  ];
  return `${lines.join("\n")}\n`;
}

function aboutLines(metadata: ModuleSummary["metadata"]): readonly string[] {
  if (metadata === undefined) return ["# A WASM module. It has no metadata that says more."];
  const { annotations, rules, raw } = metadata;
  const said = (key: string): string => commentText(annotations[`io.kubewarden.policy.${key}`] ?? "");
  const about = said("description") || said("title") || "A WASM module.";
  const kinds = commentText(rules.flatMap(({ resources = [] }) => resources).join(", "));
  const suggested = raw
    ? ["# It judges any JSON: POST /validate_raw."]
    : kinds === ""
      ? []
      : [`# Its author suggests it for ${kinds}.`];
  return [`# ${about}`, ...suggested];
}

function resources(metadata: ModuleSummary["metadata"], indent: string): readonly string[] {
  const kinds = metadata?.contextAwareResources ?? [];
  if (kinds.length === 0) return [];
  const items = kinds.map(
    ({ apiVersion, kind }) => `${indent}  - { apiVersion: ${inlineYaml(apiVersion)}, kind: ${inlineYaml(kind)} }`,
  );
  return [
    `${indent}# Kinds of the cluster that it reads. Look at them: this grants it what is in them.`,
    `${indent}contextAwareResources:`,
    ...items,
  ];
}

const listed = (key: string, values: readonly string[], comment: string): readonly string[] =>
  values.length === 0 ? [] : [`  # ${comment}`, `  ${key}: ${inlineYaml(values)}`];
