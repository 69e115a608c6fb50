/**
 * `spec.match` of a Constraint as match constraints and conditions of a ValidatingAdmissionPolicy (gatekeeper 3.23.1, pkg/mutation/match/match.go).
 * Gatekeeper asks whether the object or the old object fits the whole of it; with resource rules, selectors and names that comes to the same.
 */
import type { Path } from "../../../config/documents/problem.js";
import { builtinKinds, mistakenKind, pluralOf } from "../../../kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../../../kubernetes/names.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import { quoted } from "../cel-literal.js";
import type { Reading } from "../reading.js";

const MATCH: Path = ["spec", "match"];
const MEMBERS = "source kinds scope namespaces excludedNamespaces labelSelector namespaceSelector name".split(" ");
/** Names with `*` at the beginning or the end, as the schema of Constraints has them. */
const NAME = /^\*?[-:a-z0-9]*\*?$/;
const ANY = "*";

/** Where a policy applies. */
interface Scope {
  /** The end of the binding's name, which tells it from the policy's others; `""` for a single one. */
  readonly suffix: string;
  /** Members of the binding's `matchResources`. */
  readonly matchResources: JsonObject;
}

/** Which requests a Constraint is about. */
export interface Matched {
  readonly matchConstraints: JsonObject;
  /** Match conditions. */
  readonly conditions: readonly { readonly name: string; readonly expression: string }[];
  readonly scopes: readonly Scope[];
  /** Whether every request that Gatekeeper is sent is meant. */
  readonly isEverything: boolean;
}

/** A group and a kind of `match.kinds`, each perhaps `*`. */
interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/**
 * The subresources that Gatekeeper's webhook is sent when it is installed as its chart has it, by the group and kind of their objects, and those of
 * CONNECT; with the group of the resource, where that is another one.
 */
const SUBRESOURCES: Readonly<Record<string, string>> = {
  "/Pod": "pods/ephemeralcontainers pods/resize",
  "/Binding": "pods/binding",
  "/Service": "services/status",
  "policy/Eviction": ":pods/eviction",
  "autoscaling/Scale":
    ":replicationcontrollers/scale apps:deployments/scale apps:replicasets/scale apps:statefulsets/scale",
  "/PodExecOptions": "pods/exec",
  "/PodAttachOptions": "pods/attach",
  "/PodPortForwardOptions": "pods/portforward",
  "/PodProxyOptions": "pods/proxy",
  "/ServiceProxyOptions": "services/proxy",
  "/NodeProxyOptions": "nodes/proxy",
};
/** Kinds without a resource of their own; the last of CONNECT. */
const ONLY_SUBRESOURCES = /\/(?:Eviction|Scale|\w+Options)$/;

const groupOf = (apiVersion: string): string => parseApiVersion(apiVersion)?.group ?? "";
/** The newest version of each built-in group. */
const VERSIONS = new Map([...builtinKinds()].toReversed().map(({ apiVersion }) => [groupOf(apiVersion), apiVersion]));
const BUILTIN = new Set(
  [...builtinKinds()].map(({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`).concat(Object.keys(SUBRESOURCES)),
);

/**
 * The criteria of a Constraint; what can't be expressed is an error.
 * @param operations those of the template
 * @param exempt namespaces that the webhook leaves out, of a Config
 */
export function matchOf(reading: Reading, operations: readonly string[], exempt: readonly string[]): Matched {
  reading.onlyKnown(MATCH, MEMBERS);
  const kinds = kindsOf(reading);
  const scope = reading.oneOf([...MATCH, "scope"], [ANY, "Cluster", "Namespaced"]) || ANY;
  if (reading.oneOf([...MATCH, "source"], ["All", "Original", "Generated"]) === "Generated")
    reading.error([...MATCH, "source"], "objects that Gatekeeper generates from others: nothing else makes them");
  const isOnly = kinds.every(({ group, kind }) => group === "" && kind === "Namespace");
  const canBe = scope !== "Namespaced" && kinds.some((pair) => covers(pair, "", "Namespace"));
  const subject: Subject = { namespaces: isOnly ? "only" : canBe ? "some" : "none", operations };
  const { rules, areExact } = rulesOf(kinds, operations, scope);
  const conditions = Object.entries({
    kinds: areExact ? "" : kindCondition(kinds),
    namespaces: namespaceCondition(subject, patterns(reading, [...MATCH, "namespaces"]), true),
    "excluded-namespaces": namespaceCondition(
      subject,
      [...patterns(reading, [...MATCH, "excludedNamespaces"]), ...exempt],
      false,
    ),
    name: nameCondition(reading, operations),
  }).flatMap(([key, expression]) => (expression === "" ? [] : [{ name: `match-${key}`, expression }]));
  const { common, scopes } = selectorsOf(reading, subject);
  const isUnlimited = conditions.length === 0 && Object.keys(common).length === 0 && scopes.length === 1;
  return {
    // Gatekeeper's webhook is asked about each version by itself.
    matchConstraints: { matchPolicy: "Exact", ...common, resourceRules: rules },
    conditions,
    scopes,
    isEverything: isUnlimited && scope === ANY && kinds.every(isAny),
  };
}

const covers = (pair: GroupKind, group: string, kind: string): boolean =>
  (pair.group === ANY || pair.group === group) && (pair.kind === ANY || pair.kind === kind);

const isAny = ({ group, kind }: GroupKind): boolean => group === ANY && kind === ANY;

/** The pairs of groups and kinds, without those that no cluster has where another group has the kind; absent: all. */
function kindsOf(reading: Reading): readonly GroupKind[] {
  const path: Path = [...MATCH, "kinds"];
  const pairs = reading.list(path).flatMap((_, index) => {
    reading.onlyKnown([...path, index], ["apiGroups", "kinds"]);
    const listed = (key: string): readonly string[] => {
      const found = reading.texts([...path, index, key]);
      return found.length === 0 || found.includes(ANY) ? [ANY] : found;
    };
    const groups = listed("apiGroups");
    return listed("kinds").flatMap((kind, at) => {
      const mistakes = groups.map((group) => mistakeOf(group, kind));
      const hasNone = !mistakes.includes(undefined);
      if (hasNone) reading.note([...path, index, "kinds", at], `nothing is judged by it: ${mistakes.join("; ")}`);
      return groups.flatMap((group, of) => (hasNone || mistakes[of] === undefined ? [{ group, kind }] : []));
    });
  });
  return pairs.length === 0 || pairs.some(isAny) ? [{ group: ANY, kind: ANY }] : pairs;
}

/** Why no cluster has a kind in a group. */
const mistakeOf = (group: string, kind: string): string | undefined =>
  group === ANY || kind === ANY || BUILTIN.has(`${group}/${kind}`)
    ? undefined
    : mistakenKind(VERSIONS.get(group) ?? `${group}/v1`, kind);

/** Resource rules for kinds, and whether they stand for these kinds and no others. */
function rulesOf(
  kinds: readonly GroupKind[],
  operations: readonly string[],
  scope: string,
): { readonly rules: readonly JsonObject[]; readonly areExact: boolean } {
  const byGroup = new Map<string, Set<string>>();
  const add = (group: string, resource: string): unknown =>
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(resource));
  const connects = operations.includes("CONNECT") || operations.includes(ANY);
  const subresources = Object.entries(SUBRESOURCES).filter(([known]) => connects || !known.endsWith("Options"));
  const isExact = ({ group, kind }: GroupKind): boolean => kind === ANY || BUILTIN.has(`${group}/${kind}`);
  for (const pair of kinds) {
    const { group, kind } = pair;
    if (kind === ANY || !isExact(pair)) add(group, ANY);
    else if (!ONLY_SUBRESOURCES.test(`${group}/${kind}`)) add(group, pluralOf(kind));
    for (const [known, resources] of subresources) {
      const [ofGroup = "", ofKind = ""] = known.split("/");
      for (const each of covers(pair, ofGroup, ofKind) ? resources.split(" ") : []) {
        const [resource = "", own = ofGroup] = each.split(":").toReversed();
        add(group === ANY ? ANY : own, resource);
      }
    }
  }
  const rules = new Map<string, { apiGroups: readonly string[]; readonly resources: readonly string[] }>();
  for (const [group, found] of byGroup) {
    // Where all resources are meant none may be named beside them, and so it is with all groups.
    const resources = [...found].filter((each) => !found.has(ANY) || each === ANY || each.includes("/"));
    const apiGroups = [...(rules.get(resources.join())?.apiGroups ?? []), group];
    rules.set(resources.join(), { apiGroups: apiGroups.includes(ANY) ? [ANY] : apiGroups, resources });
  }
  return {
    rules: [...rules.values()].map(({ apiGroups, resources }) => ({
      apiGroups,
      apiVersions: [ANY],
      operations,
      resources,
      ...(scope !== ANY && { scope }),
    })),
    areExact: kinds.every(isExact),
  };
}

/** The condition that a request's kind is one of the pairs. */
function kindCondition(kinds: readonly GroupKind[]): string {
  const groups = [...new Set(kinds.map(({ group }) => group))];
  const parts = groups.map((group) => {
    const names = kinds.flatMap((pair) => (pair.group === group ? [pair.kind] : []));
    const ofGroup = group === ANY ? [] : [`request.kind.group == ${quoted(group)}`];
    return [...ofGroup, ...(names.includes(ANY) ? [] : [oneOf("request.kind.kind", names)])].join(" && ");
  });
  return parts.map((part) => (parts.length > 1 && part.includes("&&") ? `(${part})` : part)).join(" || ");
}

const oneOf = (subject: string, values: readonly string[]): string =>
  values.length === 1 ? `${subject} == ${quoted(values[0] ?? "")}` : `${subject} in [${values.map(quoted).join(", ")}]`;

/** The names at a path, perhaps with `*`: one, or a list. */
export function patterns(reading: Reading, path: Path, isOne = false): readonly string[] {
  const found = isOne ? [reading.text(path) ?? ""] : reading.texts(path);
  for (const [index, pattern] of found.entries())
    if (!NAME.test(pattern))
      reading.error(
        isOne ? path : [...path, index],
        "expected a name in lower case, with * at its beginning or end only: a cluster refuses others",
      );
  return found;
}

/** The condition that a text fits one of the patterns. */
function fits(subject: string, names: readonly string[]): string {
  const plain = names.filter((name) => !name.includes(ANY));
  const globs = names.flatMap((name) => {
    if (!name.includes(ANY)) return [];
    const way = !name.startsWith(ANY) ? "startsWith" : name.endsWith(ANY) ? "contains" : "endsWith";
    return `${subject}.${way}(${quoted(name.replaceAll(ANY, ""))})`;
  });
  return [...(plain.length === 0 ? [] : [oneOf(subject, plain)]), ...globs].join(" || ");
}

interface Subject {
  /** Which of the objects are Namespaces. */
  readonly namespaces: "none" | "only" | "some";
  readonly operations: readonly string[];
}

/** The condition about the namespace: of a Namespace its own name; objects outside of namespaces always fit. */
function namespaceCondition(subject: Subject, names: readonly string[], wanted: boolean): string {
  if (names.length === 0) return "";
  const either = (text: string): string => (text.includes("||") ? `(${text})` : text);
  const ofNamespace = fits(metadataText(subject.operations, "name"), names);
  const inside = fits("request.namespace", names);
  const [own, others] = wanted
    ? [ofNamespace, `!has(request.namespace) || ${inside}`]
    : [`!(${ofNamespace})`, `!(has(request.namespace) && ${either(inside)})`];
  if (subject.namespaces !== "some") return subject.namespaces === "only" ? own : others;
  return `request.kind.group == "" && request.kind.kind == "Namespace"\n  ? ${either(own)}\n  : ${either(others)}`;
}

/** A text of the object's metadata in CEL: without an object, of the old one's. */
function metadataText(operations: readonly string[], key: string): string {
  const isThere = operations.every((operation) => operation === "CREATE" || operation === "UPDATE");
  const metadata = isThere ? "object.metadata" : "(object == null ? oldObject : object).?metadata";
  return `${metadata}.?${key}.orValue("")`;
}

function nameCondition(reading: Reading, operations: readonly string[]): string {
  const [name = ""] = patterns(reading, [...MATCH, "name"], true);
  if (name === "") return "";
  const own = fits(metadataText(operations, "name"), [name]);
  return name.endsWith(ANY) ? `${own} || ${fits(metadataText(operations, "generateName"), [name])}` : own;
}

/**
 * The selectors: members of the policy's match constraints, or of bindings. That of namespaces is about a Namespace's own labels, before and after, as
 * selectors of objects are. So Namespaces have a scope of their own where other kinds can be meant, too.
 */
function selectorsOf(
  reading: Reading,
  subject: Subject,
): { readonly common: JsonObject; readonly scopes: readonly Scope[] } {
  const objectSelector = selector(reading, "labelSelector");
  const namespaceSelector = selector(reading, "namespaceSelector");
  const common = { ...(namespaceSelector && { namespaceSelector }), ...(objectSelector && { objectSelector }) };
  const scopes = [{ suffix: "", matchResources: {} }];
  if (namespaceSelector === undefined || subject.namespaces === "none") return { common, scopes };
  const both = { objectSelector: objectSelector ? joined([namespaceSelector, objectSelector]) : namespaceSelector };
  if (subject.namespaces === "only") return { common: both, scopes };
  const { operations } = subject;
  const namespaces = [{ apiGroups: [""], apiVersions: [ANY], operations, resources: ["namespaces"] }];
  return {
    common: {},
    scopes: [
      { suffix: "", matchResources: { ...common, excludeResourceRules: namespaces } },
      { suffix: "-namespaces", matchResources: { ...both, resourceRules: namespaces } },
    ],
  };
}

/** A selector; absent or empty: undefined. */
function selector(reading: Reading, key: string): JsonObject | undefined {
  const path: Path = [...MATCH, key];
  reading.onlyKnown(path, ["matchLabels", "matchExpressions"]);
  reading.map([...path, "matchLabels"]);
  reading.list([...path, "matchExpressions"]);
  const found = reading.map(path) ?? {};
  return Object.keys(found).length === 0 ? undefined : found;
}

/** A selector of what all of them select. */
const joined = (selectors: readonly JsonObject[]): JsonObject => ({
  matchExpressions: selectors.flatMap(({ matchLabels, matchExpressions }) => [
    ...Object.entries(matchLabels ?? {}).map(([key, value]) => ({ key, operator: "In", values: [value] })),
    ...(Array.isArray(matchExpressions) ? matchExpressions : []),
  ]),
});
