/** The module of a Constraint whose template is in Rego: its sources, the command that builds it, and the entry with its settings. */
import type { JsonObject } from "../../../kubernetes/object.js";
import type { Converted } from "../conversion.js";
import type { Bound, TemplateCode } from "./template.js";

/**
 * The policy; undefined, with the reasons, where it can't be converted.
 * @param synced the kinds that Gatekeeper keeps for Rego, by a Config or SyncSets: `apiVersion` and `kind`
 */
export function regoPolicy(
  parts: Bound,
  { rego, libs, isOld, path }: Extract<TemplateCode, { readonly rego: string }>,
  synced: readonly JsonObject[],
): Converted | undefined {
  const { template, constraint, matched, parameters, actions, name, comments } = parts;
  const { reading, name: folder } = template;
  const sources = [rego, ...libs].map((source) => source.replaceAll(/^\s*#.*$/gm, ""));
  const [, found] = /^\s*package\s+([\w.]+)\s*(?:#.*)?$/m.exec(sources[0] ?? "") ?? [];
  const uses = (pattern: RegExp): boolean => sources.some((source) => pattern.test(source));
  if (found === undefined) reading.error(path, "the Rego has no package");
  if (uses(/\bexternal_data\s*\(/))
    reading.error(path, "external_data: external data providers of Gatekeeper are not supported");
  if (uses(/\b(?:namespaceObject|_unstable)\b/))
    reading.error(path, "it reads the Namespace of the request (namespaceObject), which a module here is not given");
  if (template.operations.some((operation) => operation === "DELETE" || operation === "*"))
    reading.error(
      ["spec", "targets", 0, "operations"],
      "DELETE: input.review.object is null here, and not the old object",
    );
  const contextAwareResources = uses(/\bdata\.inventory\b/) ? synced : undefined;
  if (contextAwareResources?.length === 0)
    reading.error(path, "it reads data.inventory: give the Config or SyncSet with its kinds, too");
  if (found === undefined || reading.failed || constraint.failed) return undefined;
  const files = new Map(
    [rego, ...libs].map((text, at) => [`${folder}/${at === 0 ? "policy" : `lib${at}`}.rego`, text]),
  );
  const module = {
    module: `./${folder}/policy.wasm`,
    executionMode: "gatekeeper",
    ...(parameters !== undefined && { settings: parameters as JsonObject }),
    ...(contextAwareResources && { contextAwareResources }),
  };
  if (actions.includes("Warn"))
    constraint.note(
      ["spec", "enforcementAction"],
      "a module can't warn: policyMode: monitor lets requests pass, and logs",
    );
  const entry = matched.isEverything ? module : withMatch(parts, module);
  const bundle = `${folder}/bundle.tar.gz`;
  const build = `opa build${isOld ? " --v0-compatible" : ""} -t wasm -e ${found.replaceAll(".", "/")}/violation -o ${bundle}`;
  return {
    name,
    comments,
    documents: [],
    entries: { [name]: { ...entry, ...(!actions.includes("Deny") && { policyMode: "monitor" }) } },
    files,
    build: `${build} ${[...files.keys()].join(" ")} && tar -xzf ${bundle} -C ${folder} /policy.wasm`,
  };
}

/** A group that asks the module only about what the Constraint is about. */
function withMatch({ constraint, matched, name }: Bound, rules: JsonObject): JsonObject {
  const { matchConstraints, conditions, scopes } = matched;
  const outside = scopes.map(({ suffix, matchResources }): readonly [string, JsonObject] => [
    `outside_match${suffix.replaceAll("-", "_")}`,
    {
      cel: {
        matchConstraints: { ...matchConstraints, ...matchResources },
        ...(conditions.length > 0 && { matchConditions: conditions }),
        validations: [{ expression: "false", message: "the Constraint is about this object" }],
      },
    },
  ]);
  const calls = outside.map(([member]) => `${member}()`).join(" && ");
  return {
    expression: `${outside.length > 1 ? `(${calls})` : calls} || rules()`,
    message: `denied by ${constraint.text(["kind"])} ${name}`,
    groupWarnings: "none",
    policies: { ...Object.fromEntries(outside), rules },
  };
}
