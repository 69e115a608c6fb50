/** Warnings about rules that can match nothing in a cluster: every server accepts them without a warning. */
import { builtinKinds, builtinNamespaced, pluralOf } from "../../../kubernetes/builtin-kinds.js";
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import { type GroupVersionKind, parseApiVersion } from "../../../kubernetes/names.js";
import type { ResourceRule } from "./resource-rule.js";

/** The API versions that no server has had for years, as `group/version`: a rule that names only these matches nothing. */
const GONE: ReadonlySet<string> = new Set([
  "apps/v1beta1",
  "apps/v1beta2",
  "autoscaling/v2beta1",
  "autoscaling/v2beta2",
  "batch/v1beta1",
  "discovery.k8s.io/v1beta1",
  "events.k8s.io/v1beta1",
  "extensions/v1beta1",
  "node.k8s.io/v1beta1",
  "policy/v1beta1",
  "rbac.authorization.k8s.io/v1alpha1",
  "rbac.authorization.k8s.io/v1beta1",
]);

/** Resources that clients connect to; they are never created, updated or deleted. */
const CONNECTED = /^(?:pods\/(?:exec|attach|portforward|proxy)|(?:services|nodes)\/proxy)$/;

/** The built-in kinds by group and resource. */
type Builtin = ReadonlyMap<string, ReadonlyMap<string, readonly GroupVersionKind[]>>;

const BUILTIN: Builtin = byGroup();

function byGroup(): Builtin {
  const groups = new Map<string, Map<string, GroupVersionKind[]>>();
  for (const { apiVersion, kind } of builtinKinds()) {
    const version = parseApiVersion(apiVersion);
    if (version === undefined) continue;
    const resources = groups.get(version.group) ?? new Map<string, GroupVersionKind[]>();
    groups.set(version.group, resources);
    const resource = pluralOf(kind);
    resources.set(resource, [...(resources.get(resource) ?? []), { ...version, kind }]);
  }
  return groups;
}

/**
 * The parts of a rule that match nothing, with paths inside of the rule. Kinds that are not built in are not checked.
 * @param exact whether the versions are taken literally: else a rule about one of them is about all
 */
export function ruleWarnings(rule: ResourceRule, exact: boolean): readonly FieldError[] {
  const { apiGroups = [], apiVersions = [], resources = [], operations = [], scope = "*" } = rule;
  const misnamed = [...apiGroups.flatMap(groupWarning), ...apiVersions.flatMap(versionWarning)];
  if (misnamed.length > 0) return misnamed;
  const doubts: FieldError[] = [];
  if (apiGroups.length > 0 && apiGroups.every((group) => BUILTIN.has(group))) {
    for (const [i, entry] of resources.entries()) {
      const [resource = ""] = entry.split("/");
      if (resource === "*" || resource === "") continue;
      const found = apiGroups.flatMap((group) => BUILTIN.get(group)?.get(resource) ?? []);
      const warning =
        found.length === 0
          ? resourceWarning(resource, apiGroups)
          : kindWarning(resource, found, exact ? apiVersions : ["*"], scope);
      if (warning !== undefined)
        doubts.push({ ...warning, path: [...warning.path, ...(warning.path[0] === "resources" ? [i] : [])] });
    }
  }
  return [...distinct(doubts), ...connectWarnings(operations, resources)];
}

const distinct = (warnings: readonly FieldError[]): readonly FieldError[] =>
  warnings.filter(({ text }, i) => warnings.findIndex((each) => each.text === text) === i);

function groupWarning(group: string, i: number): readonly FieldError[] {
  const path: FieldPath = ["apiGroups", i];
  if (group === "core" || group === "v1") {
    return [
      {
        path,
        text: `no group is called ${JSON.stringify(group)}: this matches nothing`,
        hint: 'write "", the core group',
      },
    ];
  }
  const [name = ""] = group.split("/");
  return group.includes("/")
    ? [
        {
          path,
          text: `a group has no version in its name: ${JSON.stringify(group)} matches nothing`,
          hint: `write ${JSON.stringify(name)}, and its version in apiVersions`,
        },
      ]
    : [];
}

function versionWarning(version: string, i: number): readonly FieldError[] {
  if (!version.includes("/")) return [];
  const name = JSON.stringify(version.split("/").at(-1));
  const text = `a version has no group in its name: ${JSON.stringify(version)} matches nothing`;
  return [{ path: ["apiVersions", i], text, hint: `write ${name}, and the group in apiGroups` }];
}

function resourceWarning(resource: string, apiGroups: readonly string[]): FieldError | undefined {
  const path: FieldPath = ["resources"];
  const named = apiGroups.map((group) => JSON.stringify(group)).join(" or ");
  const text = `there is no resource ${JSON.stringify(resource)} in the group ${named} of Kubernetes: this matches nothing`;
  const inGroups = (name: string): boolean => apiGroups.some((group) => BUILTIN.get(group)?.has(name));
  const plural = [resource.toLowerCase(), pluralOf(resource)].find(inGroups);
  if (plural !== undefined)
    return { path, text, hint: `write ${JSON.stringify(plural)}: resources are named in the plural, in lower case` };
  const elsewhere = [...BUILTIN].filter(([, resources]) => resources.has(resource)).map(([group]) => group);
  const first = elsewhere.find((group) => group !== "extensions");
  if (first !== undefined) return { path, text, hint: `write apiGroups: [${JSON.stringify(first)}]` };
  // An unknown name may be that of a definition; the core group has none.
  return apiGroups.every((group) => group === "") ? { path, text } : undefined;
}

/** The warning for an existing resource in other versions or another scope. */
function kindWarning(
  resource: string,
  found: readonly GroupVersionKind[],
  apiVersions: readonly string[],
  scope: string,
): FieldError | undefined {
  const served = found.filter(({ group, version }) => !GONE.has(`${group}/${version}`));
  if (
    !apiVersions.includes("*") &&
    apiVersions.length > 0 &&
    !served.some(({ version }) => apiVersions.includes(version))
  ) {
    const known = found.some(({ version }) => apiVersions.includes(version));
    const versions = [...new Set(served.map(({ version }) => version))];
    // A resource that is not in the table may be of an unknown server.
    if (!known) return undefined;
    const text = `${JSON.stringify(resource)} in the version ${apiVersions.join(", ")} is no longer served: with matchPolicy Exact this matches nothing`;
    const hint =
      versions.length === 0
        ? "leave the rule out"
        : `write apiVersions: [${versions.map((version) => JSON.stringify(version)).join(", ")}]`;
    return { path: ["apiVersions"], text, hint };
  }
  const namespaced = found.map((kind) => builtinNamespaced(kind));
  if (scope === "Cluster" && namespaced.every((each) => each === true))
    return scopeWarning(resource, "live in namespaces", scope);
  if (scope === "Namespaced" && namespaced.every((each) => each === false))
    return scopeWarning(resource, "live in no namespace", scope);
  return undefined;
}

const scopeWarning = (resource: string, where: string, scope: string): FieldError => ({
  path: ["resources"],
  text: `${resource} ${where}: with scope ${scope} this matches nothing`,
  hint: 'leave scope out, or write "*"',
});

/** Warnings about connections: some resources have only those, and others have none. */
function connectWarnings(operations: readonly string[], resources: readonly string[]): readonly FieldError[] {
  if (operations.length === 0 || resources.length === 0) return [];
  if (operations.every((each) => each === "CONNECT") && resources.every((each) => /^[a-z]+$/.test(each))) {
    const text = "no request connects to these resources, only to subresources of some: this matches nothing";
    return [{ path: ["operations"], text, hint: 'name what is connected to in resources, such as "pods/exec"' }];
  }
  const connects = operations.some((each) => each === "CONNECT" || each === "*");
  if (connects || !resources.every((each) => CONNECTED.test(each))) return [];
  const text = `${resources.join(", ")}: clients connect to it, and do nothing else with it: this matches nothing`;
  return [{ path: ["operations"], text, hint: 'write operations: ["CONNECT"]' }];
}
