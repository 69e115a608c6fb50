/** Inspects policies of a configuration, loaded as by the server, but not served. */

import { identityOf, opened } from "../../config/documents/documents.js";
import type { Config, ConfigEntry, Member } from "../../config/index.js";
import { formatProblem, type Problem, type SourceDocument } from "../../config/index.js";
import { hasExpressions } from "../../kinds/shared/index.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import { createLoader } from "../../loader/index.js";
import type { Policy, PolicyRule } from "../../policy/index.js";
import type { Inspected, InspectedDocument, InspectedPolicy } from "./inspected.js";
import { inspectModule, type ModuleInspection } from "./modules.js";

/** The counted fields of a spec. */
const COUNTED = ["validations", "mutations", "variables", "matchConditions", "auditAnnotations", "rules"] as const;

/** Loads the entries with those that they refer to, and describes them. */
export async function inspectEntries(
  config: Config,
  wanted: readonly ConfigEntry[],
  before: readonly Problem[],
  inspection: ModuleInspection,
): Promise<Inspected> {
  const loader = createLoader(inspection.settings, { typeCheck: true });
  try {
    const entries = withReferences(wanted, config.entries);
    const loaded = await loader.load({ ...config, entries });
    const needs = new Map(loaded.clusterNeeded.map(({ id, requires }) => [id, requires.map(({ what }) => what)]));
    const policies: InspectedPolicy[] = [];
    for (const entry of wanted) {
      const policy = loaded.policies.entries.get(entry.id)?.policy;
      const idle = entry.kind === "module" ? await inspectModule(entry, inspection).catch(() => undefined) : undefined;
      policies.push({
        ...describe(entry, policy),
        needs: [...new Set(idsOf(entry).flatMap((id) => needs.get(id) ?? []))],
        ...(idle && { module: idle }),
      });
    }
    const ids = new Set(entries.map(({ id }) => id));
    const own = before.filter(({ path }) => ids.has(String(path[0])));
    // Problems of a file that an entry names have the file's paths, and not the entry's.
    const invalid = entries.flatMap((entry) => (entry.kind === "invalid" ? entry.problems : []));
    const problems = [...new Set([...own, ...invalid, ...loaded.problems])];
    return {
      policies,
      problems: [...new Set(problems.map(formatProblem))],
      errors: problems.filter(({ severity }) => severity === "error").length,
    };
  } finally {
    loader.close();
  }
}

function withReferences(wanted: readonly ConfigEntry[], all: readonly ConfigEntry[]): readonly ConfigEntry[] {
  const found = new Map<string, ConfigEntry>();
  const add = (entry: ConfigEntry | undefined): void => {
    if (entry === undefined || found.has(entry.id)) return;
    found.set(entry.id, entry);
    if (entry.kind === "group")
      for (const { policy } of entry.members)
        add(policy.kind === "reference" ? all.find(({ id }) => id === policy.id) : undefined);
  };
  for (const entry of wanted) add(entry);
  return [...found.values()];
}

/** The ids of an entry and its members. */
const idsOf = (entry: ConfigEntry): readonly string[] =>
  entry.kind === "group" ? [entry.id, ...entry.members.map(({ policy }) => policy.id)] : [entry.id];

function describe(entry: ConfigEntry, policy: Policy | undefined): Omit<InspectedPolicy, "needs"> {
  const together = policy === undefined ? [] : (policy.together ?? [policy]);
  const common = {
    id: entry.id,
    place: "",
    kind: entry.kind,
    implementation: policy?.implementation ?? "none",
    rules: (policy?.rules ?? []).map(ruleText),
    expressions: together.flatMap((each) =>
      hasExpressions(each) ? [...each.expressions()].map(({ policy: name, path }) => `${name}: ${path}`) : [],
    ),
    documents: entry.kind === "resource" ? opened(entry.documents).map(documentOf) : [],
  };
  if (entry.kind === "invalid") {
    const [first] = entry.problems;
    return { ...common, place: first === undefined ? "" : `${first.file}:${first.line}` };
  }
  const { file, line } = entry.origin.positionOf([]);
  return {
    ...common,
    place: `${file}:${line}`,
    mode: entry.policyMode,
    allowedToMutate: entry.allowedToMutate,
    ...(entry.kind === "group" && {
      expression: entry.expression,
      ...(entry.messageExpression !== undefined && { messageExpression: entry.messageExpression }),
      ...(entry.auditAnnotations && {
        auditAnnotations: Object.fromEntries(entry.auditAnnotations.map((each) => [each.key, each.valueExpression])),
      }),
      members: Object.fromEntries(entry.members.map((each) => [each.name, memberText(each)])),
    }),
  };
}

function memberText({ policy }: Member): string {
  switch (policy.kind) {
    case "reference":
      return policy.id;
    case "module":
      return policy.module.text;
    case "resource":
      return [...new Set(policy.documents.map(({ file }) => file))].join(", ");
    case "cel":
      return "cel, inline";
    case "group":
      return `group: ${policy.expression}`;
  }
}

/** `CREATE, UPDATE of deployments (apps/v1)`. */
export function ruleText({ operations = [], apiGroups = [], apiVersions = [], resources = [] }: PolicyRule): string {
  const groups = apiGroups.map((group) => (group === "" ? "core" : group));
  return `${operations.join(", ") || "*"} of ${resources.join(", ") || "*"} (${groups.join(", ") || "*"}/${apiVersions.join(", ") || "*"})`;
}

function documentOf(document: SourceDocument): InspectedDocument {
  const { group, version, kind, name } = identityOf(document);
  const { file, line } = document.positionOf([]);
  const spec = member(document.value, "spec");
  const params = member(spec, "paramKind");
  const binds = text(spec, "policyName");
  const parts = COUNTED.flatMap((key) => {
    const list = member(spec, key);
    return Array.isArray(list) ? [[key, list.length] as const] : [];
  });
  return {
    file,
    line,
    kind,
    apiVersion: group === "" ? version : `${group}/${version}`,
    name,
    parts: Object.fromEntries(parts),
    ...(isObject(params) && { params: `${text(params, "kind")} of ${text(params, "apiVersion")}` }),
    ...(binds !== "" && { binds }),
  };
}
