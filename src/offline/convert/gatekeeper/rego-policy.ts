/** The module of a Constraint whose template is in Rego: its sources, the command that builds it, and the entry with its settings. */
import { parsePlainJson } from "../../../data/json.js";
import { type JsonObject, member } from "../../../kubernetes/object.js";
import type { ModulePolicy } from "../conversion.js";
import type { Reading } from "../reading.js";
import type { Matched } from "./match.js";
import type { Template } from "./template.js";

/** The parts of a module policy. */
export interface RegoParts {
  readonly template: Template & { readonly code: { readonly engine: "rego" } };
  readonly ofTemplate: Reading;
  readonly ofConstraint: Reading;
  readonly matched: Matched;
  readonly parameters: unknown;
  readonly actions: readonly string[];
  readonly name: string;
  readonly comments: readonly string[];
  /** The kinds that Gatekeeper keeps for Rego, by a Config or SyncSets: `apiVersion` and `kind`. */
  readonly synced: readonly JsonObject[];
}

/** The policy; undefined, with the reasons, where it can't be converted. */
export function regoPolicy(parts: RegoParts): ModulePolicy | undefined {
  const { template, ofTemplate, ofConstraint, matched, parameters, actions, name, comments } = parts;
  const { rego, libs, isOld, path } = template.code;
  const sources = [rego, ...libs].map(withoutComments);
  const entrypoint = packageOf(sources[0] ?? "");
  if (entrypoint === undefined) ofTemplate.error(path, "the Rego has no package");
  if (sources.some((source) => /\bexternal_data\s*\(/.test(source)))
    ofTemplate.error(path, "external_data: external data providers of Gatekeeper are not supported");
  if (template.operations.some((operation) => operation === "DELETE" || operation === "*"))
    ofTemplate.error(
      ["spec", "targets", 0, "operations"],
      "DELETE: Gatekeeper gives Rego the deleted object as input.review.object, where a module here finds null",
    );
  const context = sources.some((source) => /\bdata\.inventory\b/.test(source)) ? contextOf(parts) : [];
  if (ofTemplate.failed || ofConstraint.failed) return undefined;
  const folder = template.name;
  const files = new Map([
    [`${folder}/policy.rego`, rego],
    ...libs.map((lib, index) => [`${folder}/lib${index + 1}.rego`, lib] as const),
  ]);
  const names = [...files.keys()].join(" ");
  const syntax = isOld ? " --v0-compatible" : "";
  const bundle = `${folder}/bundle.tar.gz`;
  const module = {
    module: `./${folder}/policy.wasm`,
    executionMode: "gatekeeper",
    ...(parameters !== undefined && { settings: parameters as JsonObject }),
    ...(context.length > 0 && { contextAwareResources: context }),
  };
  if (actions.includes("Warn"))
    ofConstraint.note(
      ["spec", "enforcementAction"],
      "a module can't only warn: policyMode: monitor lets requests pass, and logs what it would have said",
    );
  const mode = actions.includes("Deny") ? {} : { policyMode: "monitor" };
  return {
    name,
    comments,
    entry: matched.isEverything
      ? { ...module, ...mode }
      : { ...withMatch(template.kind, name, module, matched), ...mode },
    files,
    build: `opa build${syntax} -t wasm -e ${entrypoint}/violation -o ${bundle} ${names} && tar -xzf ${bundle} -C ${folder} /policy.wasm`,
  };
}

/** A group that asks the module only about what the Constraint is about. */
function withMatch(
  kind: string,
  name: string,
  module: JsonObject,
  { matchConstraints, conditions, scopes }: Matched,
): JsonObject {
  const outside = scopes.map(({ suffix, matchResources }) => [
    `outside_match${suffix.replaceAll("-", "_")}`,
    {
      cel: {
        matchConstraints: { ...matchConstraints, ...matchResources },
        ...(conditions.length > 0 && {
          matchConditions: conditions.map(({ name: each, expression }) => ({ name: each, expression })),
        }),
        validations: [{ expression: "false", message: "the Constraint is about this object" }],
      },
    },
  ]);
  const calls = outside.map(([member]) => `${String(member)}()`).join(" && ");
  return {
    expression: `${outside.length > 1 ? `(${calls})` : calls} || rules()`,
    message: `denied by ${kind} ${name}`,
    groupWarnings: "none",
    policies: { ...Object.fromEntries(outside), rules: module },
  };
}

const withoutComments = (rego: string): string => rego.replaceAll(/^\s*#.*$/gm, "");

/** The package's path as an entry point. */
function packageOf(rego: string): string | undefined {
  const [, found] = /^\s*package\s+([\w.]+)\s*(?:#.*)?$/m.exec(rego) ?? [];
  return found?.replaceAll(".", "/");
}

/** The kinds of `data.inventory`: those that the template's annotation asks for, else those that are kept. */
function contextOf({ template, ofTemplate, synced }: RegoParts): readonly JsonObject[] {
  const asked = requirements(
    member(
      member(member(template.document.value, "metadata"), "annotations"),
      "metadata.gatekeeper.sh/requires-sync-data",
    ),
  );
  const found = asked.length > 0 ? asked : synced;
  if (found.length === 0)
    ofTemplate.error(
      template.code.path,
      "it reads data.inventory, and nothing says which kinds are in it: give the Config or SyncSet, too",
    );
  return found;
}

/** The kinds in the annotation: a list of requirements, each a list of alternatives, in JSON. */
function requirements(text: unknown): readonly JsonObject[] {
  let read: unknown;
  try {
    // The text is a JSON string in some templates, and JSON in others.
    read = parsePlainJson(
      String(text)
        .trim()
        .replace(/^"\s*|\s*"$/g, "")
        .replaceAll('\\"', '"'),
    );
  } catch {
    return [];
  }
  const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  return listed(read).flatMap((alternatives) =>
    listed(alternatives).flatMap((each) =>
      listed(member(each, "groups")).flatMap((group) =>
        listed(member(each, "versions")).flatMap((version) =>
          listed(member(each, "kinds")).map((kind) => ({
            apiVersion: group === "" ? String(version) : `${String(group)}/${String(version)}`,
            kind: String(kind),
          })),
        ),
      ),
    ),
  );
}
