/** The kinds that a block names, such as `Pod`, `apps/v1/Deployment`, `Pod/exec` and `*Job` (spec kyverno-old.md, match). */
import { builtinKinds, builtinKindsNamed, builtinNamespaced, pluralOf } from "../../../../kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../../../../kubernetes/names.js";
import type { ResourceRule } from "../../../shared/match/resource-rule.js";
import { and, type Cel, or, primary, TRUE } from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import type { Definition } from "../old-policy.js";
import { hasWildcard, matchesAny, matchesWildcard } from "./wildcard.js";

/** The parts of a kind as it is written. Each may have wildcards; `subresource` is `""` for the object itself. */
interface Selector {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly subresource: string;
}

/** A kind in the words of resource rules. */
export interface KindRule {
  readonly rule: Omit<ResourceRule, "operations">;
  /** The requests of this kind among all. */
  readonly test: Cel;
  /** The name, where that is all that the test looks at. */
  readonly plain: string | undefined;
  /** Whether the rule has no other requests. */
  readonly exact: boolean;
  /** Whether all of its objects are known to live in namespaces. */
  readonly namespaced: boolean;
  /** Whether objects of the kind Namespace may be among them. */
  readonly namespaces: boolean;
}

const VERSION = /^(?:v\d(?:(?:alpha|beta)\d)?|\*)$/;

/** The parts of a kind; undefined: no object has it. */
export function parseKind(written: string): Selector | undefined {
  const path = written.split("/");
  const parts = [...path.slice(0, -1), ...(path.at(-1) ?? "").split(".")];
  const [a = "", b = "", c = "", d = ""] = parts;
  const any = { group: "*", version: "*" };
  if (parts.length === 1) return { ...any, kind: a, subresource: "" };
  if (parts.length === 2) {
    if (a === "*" && b === "*") return { ...any, kind: a, subresource: b };
    if (a === "*" && b.toLowerCase() === b) return { ...any, kind: a, subresource: b };
    if (VERSION.test(a)) return { group: "*", version: a, kind: b, subresource: "" };
    return { ...any, kind: a, subresource: b };
  }
  if (parts.length === 3) {
    if (VERSION.test(a)) return { group: "*", version: a, kind: b, subresource: c };
    return { group: a, version: b, kind: c, subresource: "" };
  }
  return parts.length === 4 ? { group: a, version: b, kind: c, subresource: d } : undefined;
}

/** The kind alone, as Kyverno's autogen reads it. */
export const plainKind = (written: string): string => parseKind(written)?.kind ?? "";

const [GROUP, KIND_VERSION, KIND] = ["group", "version", "kind"].map((key) => primary(`request.kind.${key}`));

/** A kind as rules of resources. */
export function kindRule(written: string, definitions: readonly Definition[]): KindRule | undefined {
  const selector = parseKind(written);
  if (selector === undefined) return undefined;
  const { group, version, kind, subresource } = selector;
  const known = knownKinds(selector, definitions);
  const isNamed = !hasWildcard(kind) && known.length > 0;
  // Only the core group has these. Another group may have any other kind of the same name.
  const isCore = group === "*" && (kind === "Pod" || kind === "ReplicationController");
  const plain = isNamed ? (known[0]?.plural ?? "") : "*";
  const words = (part: string): readonly string[] => [hasWildcard(part) ? "*" : part];
  const resources = subresource === "" ? [plain] : [`${plain}/${hasWildcard(subresource) ? "*" : subresource}`];
  // Kyverno's policies about Pods are also about ephemeral containers that are added to them.
  const isPod = (isNamed && kind === "Pod") || plain === "*";
  if (isPod && subresource === "" && matchesWildcard(group, "") && matchesWildcard(kind, "Pod"))
    resources.push("pods/ephemeralcontainers");
  const parts = [
    [GROUP, isCore ? "" : group],
    [KIND_VERSION, version],
    [KIND, kind],
  ] as const;
  const tests = parts.map(([cel = TRUE, part]) => (part === "*" ? TRUE : matchesAny(cel, [part])));
  const isOpen = !isNamed && kind !== "*";
  const wild = [group, version].some((part) => part !== "*" && hasWildcard(part));
  if ((isOpen || wild) && (subresource === "scale" || hasWildcard(subresource)))
    throw new NotConverted(
      [],
      `the resource of ${written} is not known, and a request for its subresource does not tell: give the CustomResourceDefinition of the kind, too`,
    );
  if (hasWildcard(subresource) && !/^\*+$/.test(subresource))
    throw new NotConverted([], "a subresource with wildcards can't be said in resource rules: name the subresources");
  return {
    rule: { apiGroups: [isCore ? "" : (words(group)[0] ?? "")], apiVersions: words(version), resources },
    // A request for a subresource may have a kind of its own, such as Scale.
    test: and(...(isNamed && group === "*" ? tests.slice(1) : tests), subresourceTest(subresource)),
    plain:
      tests.slice(0, 2).every(({ text }) => text === "true" || (isNamed && group === "*" && version === "*")) &&
      subresource === "" &&
      !hasWildcard(kind)
        ? kind
        : undefined,
    exact: !(isOpen || wild),
    namespaced: known.length > 0 && isNamed && known.every((each) => each.namespaced),
    namespaces: matchesWildcard(kind, "Namespace") && matchesWildcard(group, ""),
  };
}

const subresourceTest = (subresource: string): Cel =>
  subresource === "" || hasWildcard(subresource)
    ? TRUE
    : primary(`request.?subResource.orValue("") == ${JSON.stringify(subresource)}`);

interface Known {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The known kinds that a selector means. */
function knownKinds({ group, version, kind }: Selector, definitions: readonly Definition[]): readonly Known[] {
  const own = definitions.filter((each) => matchesWildcard(group, each.group) && matchesWildcard(kind, each.kind));
  const named = hasWildcard(kind) ? [...builtinKinds()] : builtinKindsNamed(kind);
  const builtin = named.flatMap((each) => {
    const parsed = parseApiVersion(each.apiVersion);
    if (parsed === undefined || !matchesWildcard(group, parsed.group)) return [];
    if (!matchesWildcard(version, parsed.version) || !matchesWildcard(kind, each.kind)) return [];
    const namespaced = builtinNamespaced({ ...parsed, kind: each.kind }) === true;
    return [{ plural: pluralOf(each.kind), namespaced }];
  });
  // Kinds of one name in several groups can have several plurals: then the kind tells.
  const all = [...own, ...builtin];
  return new Set(all.map(({ plural }) => plural)).size > 1 && !hasWildcard(kind) ? [] : all;
}

/** The requests of one of some kinds, with names in one list. */
export function anyKind(rules: readonly KindRule[]): Cel {
  const names = [...new Set(rules.flatMap(({ plain }) => plain ?? []))];
  const others = rules.filter(({ plain }) => plain === undefined).map(({ test }) => test);
  return or(...(names.length === 0 ? [] : [matchesAny(KIND ?? TRUE, names)]), ...others);
}
