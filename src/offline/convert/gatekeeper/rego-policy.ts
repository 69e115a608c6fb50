/** The module of a Constraint whose template is in Rego: its sources, the command that builds it, and the entry with its settings. */
import type { JsonObject } from "../../../kubernetes/object.js";
import type { ModulePolicy } from "../conversion.js";
import type { Matched } from "./match.js";
import type { Bound } from "./template.js";

/**
 * The policy; undefined, with the reasons, where it can't be converted.
 * @param synced the kinds that Gatekeeper keeps for Rego, by a Config or SyncSets: `apiVersion` and `kind`
 */
export function regoPolicy(parts: Bound<"rego">, synced: readonly JsonObject[]): ModulePolicy | undefined {
  const { template, ofTemplate, ofConstraint, matched, parameters, actions, name, comments } = parts;
  const { rego, libs, isOld, path } = template.code;
  const sources = [rego, ...libs].map(withoutComments);
  const entrypoint = packageOf(sources[0] ?? "");
  if (entrypoint === undefined) ofTemplate.error(path, "the Rego has no package");
  if (sources.some((source) => /\bexternal_data\s*\(/.test(source)))
    ofTemplate.error(path, "external_data: external data providers of Gatekeeper are not supported");
  if (sources.some((source) => /\b(?:namespaceObject|_unstable)\b/.test(source)))
    ofTemplate.error(path, "it reads the Namespace of the request (namespaceObject), which a module here is not given");
  if (template.operations.some((operation) => operation === "DELETE" || operation === "*"))
    ofTemplate.error(
      ["spec", "targets", 0, "operations"],
      "DELETE: input.review.object is null here, and not the old object",
    );
  const context = sources.some((source) => /\bdata\.inventory\b/.test(source)) ? synced : undefined;
  if (context?.length === 0)
    ofTemplate.error(path, "it reads data.inventory: give the Config or SyncSet with its kinds, too");
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
    ...(context && { contextAwareResources: context }),
  };
  if (actions.includes("Warn"))
    ofConstraint.note(
      ["spec", "enforcementAction"],
      "a module can't warn: policyMode: monitor lets requests pass, and logs",
    );
  const mode = actions.includes("Deny") ? {} : { policyMode: "monitor" };
  return {
    name,
    comments,
    entry: { ...(matched.isEverything ? module : withMatch(template.kind, name, module, matched)), ...mode },
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
        ...(conditions.length > 0 && { matchConditions: conditions }),
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
