/** Rules of policies for existing objects: those for the creation of whole objects. */
import { member } from "../../kubernetes/object.js";

/** A rule of a policy's scope; `*` means all. Empty lists match nothing. */
export interface TargetRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** Plurals without subresources. */
  readonly resources: readonly string[];
}

/** A resource with its names from discovery. */
export interface NamedResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/**
 * Selects the rules that can match an existing object: it is evaluated as if it were created, and has no subresource. `* / *` names all resources
 * beside all subresources.
 * @param written rules in the form of webhooks and match constraints
 */
export function targetRules(written: readonly unknown[]): readonly TargetRule[] {
  return written.flatMap((rule) => {
    const operations = texts(member(rule, "operations"));
    if (!operations.includes("CREATE") && !operations.includes("*")) return [];
    const resources = texts(member(rule, "resources")).flatMap((each) => (each === "*/*" ? ["*"] : wholeObjects(each)));
    if (resources.length === 0) return [];
    return [
      { apiGroups: texts(member(rule, "apiGroups")), apiVersions: texts(member(rule, "apiVersions")), resources },
    ];
  });
}

/** Rules without wildcards: the audit scanner of Kubewarden leaves those with wildcards out (spec kubewarden.md 11.3). */
export const withoutWildcards = (rules: readonly TargetRule[]): readonly TargetRule[] =>
  rules.filter(({ apiGroups, apiVersions, resources }) => ![apiGroups, apiVersions, resources].some(isForAll));

/**
 * Whether a rule matches a resource, in any version: a stored object has all versions.
 * @param byName only if the resource is named, not by `*`
 */
export const ruleNames = (
  { apiGroups, resources }: TargetRule,
  { group, plural }: NamedResource,
  byName = false,
): boolean => names(apiGroups, group) && (resources.includes(plural) || (!byName && isForAll(resources)));

/** Whether a rule names the version. */
export const ruleNamesVersion = ({ apiVersions }: TargetRule, { version }: NamedResource): boolean =>
  names(apiVersions, version);

/** Whether a rule may match a resource of a group. */
export const ruleNamesGroup = ({ apiGroups }: TargetRule, group: string): boolean => names(apiGroups, group);

const wholeObjects = (resource: string): readonly string[] => (resource.includes("/") ? [] : [resource]);
const isForAll = (list: readonly string[]): boolean => list.includes("*");
const names = (list: readonly string[], name: string): boolean => isForAll(list) || list.includes(name);
const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
