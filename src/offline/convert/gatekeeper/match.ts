/**
 * `spec.match` of a Constraint as match constraints and conditions of a ValidatingAdmissionPolicy (gatekeeper 3.23.1, pkg/mutation/match/match.go).
 * Gatekeeper asks whether the object or the old object fits the whole of it; with resource rules, selectors and names that comes to the same.
 */
import type { Path } from "../../../config/documents/problem.js";
import { builtinKinds, pluralOf } from "../../../kubernetes/builtin-kinds.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import { quoted } from "../cel-literal.js";
import type { Scope } from "../conversion.js";
import type { Reading } from "../reading.js";

const MATCH: Path = ["spec", "match"];
const MEMBERS = "source kinds scope namespaces excludedNamespaces labelSelector namespaceSelector name".split(" ");
/** Names with `*` at the beginning or the end, as the schema of Constraints has them. */
const NAME = /^\*?[-:a-z0-9]*\*?$/;
const ANY = "*";

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
 * The subresources that Gatekeeper's webhook is sent when it is installed as its chart has it, by the group and kind of their objects; with the
 * group of the resource, where that is another one.
 */
const SUBRESOURCES: Readonly<Record<string, string>> = {
  "/Pod": "pods/ephemeralcontainers pods/resize",
  "/Binding": "pods/binding",
  "/Service": "services/status",
  "policy/Eviction": ":pods/eviction",
  "autoscaling/Scale":
    ":replicationcontrollers/scale apps:deployments/scale apps:replicasets/scale apps:statefulsets/scale",
};
/** Those for CONNECT. */
const CONNECTIONS: typeof SUBRESOURCES = {
  "/PodExecOptions": "pods/exec",
  "/PodAttachOptions": "pods/attach",
  "/PodPortForwardOptions": "pods/portforward",
  "/PodProxyOptions": "pods/proxy",
  "/ServiceProxyOptions": "services/proxy",
  "/NodeProxyOptions": "nodes/proxy",
};
/** Built-in kinds without a resource of their own. */
const ONLY_SUBRESOURCES = ["policy/Eviction", "autoscaling/Scale"];

const BUILTIN: ReadonlySet<string> = new Set(
  [...builtinKinds()].map(({ apiVersion, kind }) => `${apiVersion.replace(/^[^/]*$|\/.*$/, "")}/${kind}`),
);

/** Whether a pair stands for a kind. */
const covers = (pair: GroupKind, group: string, kind: string): boolean =>
  (pair.group === ANY || pair.group === group) && (pair.kind === ANY || pair.kind === kind);

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
  const subject: Subject = {
    canBeNamespace: scope !== "Namespaced" && kinds.some((pair) => covers(pair, "", "Namespace")),
    isOnlyNamespaces: kinds.every(({ group, kind }) => group === "" && kind === "Namespace"),
    operations,
  };
  const wanted = patterns(reading, "namespaces");
  const unwanted = [...patterns(reading, "excludedNamespaces"), ...exempt];
  const { rules, areExact } = rulesOf(kinds, operations, scope);
  const conditions = Object.entries({
    kinds: areExact ? "" : kindCondition(kinds),
    namespaces: wanted.length === 0 ? "" : namespaceCondition(subject, wanted, true),
    "excluded-namespaces": unwanted.length === 0 ? "" : namespaceCondition(subject, unwanted, false),
    name: nameCondition(reading, operations),
  }).flatMap(([name, expression]) => (expression === "" ? [] : [{ name, expression }]));
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

const isAny = ({ group, kind }: GroupKind): boolean => group === ANY && kind === ANY;

/** The pairs of groups and kinds; absent: all. */
function kindsOf(reading: Reading): readonly GroupKind[] {
  const path: Path = [...MATCH, "kinds"];
  const pairs = (reading.list(path) ?? []).flatMap((_, index) => {
    reading.map([...path, index]);
    reading.onlyKnown([...path, index], ["apiGroups", "kinds"]);
    const listed = (key: string): readonly string[] => {
      const found = reading.texts([...path, index, key]) ?? [];
      return found.length === 0 || found.includes(ANY) ? [ANY] : found;
    };
    const groups = listed("apiGroups");
    return listed("kinds").flatMap((kind) => groups.map((group) => ({ group, kind })));
  });
  return pairs.length === 0 || pairs.some(isAny) ? [{ group: ANY, kind: ANY }] : pairs;
}

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
  const subresources = Object.entries({ ...SUBRESOURCES, ...(connects && CONNECTIONS) });
  let areExact = true;
  for (const pair of kinds) {
    const { group, kind } = pair;
    const id = `${group}/${kind}`;
    if (kind === ANY || !BUILTIN.has(id)) add(group, ANY);
    else if (!ONLY_SUBRESOURCES.includes(id)) add(group, pluralOf(kind));
    areExact &&= kind === ANY || BUILTIN.has(id);
    for (const [known, resources] of subresources) {
      const [ofGroup = "", ofKind = ""] = known.split("/");
      if (!covers(pair, ofGroup, ofKind)) continue;
      for (const each of resources.split(" ")) {
        const [resource = "", own = ofGroup] = each.split(":").toReversed();
        add(group === ANY ? ANY : own, resource);
      }
    }
  }
  const rules = new Map<string, { readonly apiGroups: string[]; readonly resources: readonly string[] }>();
  for (const [group, found] of byGroup) {
    // Where all resources are meant none may be named beside them.
    const resources = [...found].filter((each) => !found.has(ANY) || each === ANY || each.includes("/"));
    const same = rules.get(resources.join());
    // So it is with all groups.
    if (same === undefined || group === ANY) rules.set(resources.join(), { apiGroups: [group], resources });
    else if (same.apiGroups[0] !== ANY) same.apiGroups.push(group);
  }
  return {
    rules: [...rules.values()].map(({ apiGroups, resources }) => ({
      apiGroups,
      apiVersions: [ANY],
      operations,
      resources,
      ...(scope !== ANY && { scope }),
    })),
    areExact,
  };
}

/** The condition that a request's kind is one of the pairs. */
function kindCondition(kinds: readonly GroupKind[]): string {
  const byGroup = new Map<string, string[]>();
  for (const { group, kind } of kinds) byGroup.set(group, [...(byGroup.get(group) ?? []), kind]);
  const parts = [...byGroup].map(([group, names]) => {
    const ofGroup = group === ANY ? [] : [`request.kind.group == ${quoted(group)}`];
    const ofKind = names.includes(ANY) ? [] : [oneOf("request.kind.kind", names)];
    return [...ofGroup, ...ofKind].join(" && ");
  });
  return parts.length === 1
    ? (parts[0] ?? "")
    : parts.map((part) => (part.includes("&&") ? `(${part})` : part)).join(" || ");
}

const oneOf = (subject: string, values: readonly string[]): string =>
  values.length === 1 ? `${subject} == ${quoted(values[0] ?? "")}` : `${subject} in [${values.map(quoted).join(", ")}]`;

/** A list of names. */
function patterns(reading: Reading, key: string): readonly string[] {
  const found = reading.texts([...MATCH, key]) ?? [];
  for (const [index, pattern] of found.entries()) checkName(reading, pattern, [...MATCH, key, index]);
  return found;
}

function checkName(reading: Reading, pattern: string, path: Path): void {
  if (!NAME.test(pattern))
    reading.error(path, "expected a name in lower case, with * at its beginning or end only: a cluster refuses others");
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
  readonly canBeNamespace: boolean;
  readonly isOnlyNamespaces: boolean;
  readonly operations: readonly string[];
}

/** The condition about the namespace: of a Namespace its own name; objects outside of namespaces always fit. */
function namespaceCondition(subject: Subject, names: readonly string[], wanted: boolean): string {
  const either = (text: string): string => (text.includes("||") ? `(${text})` : text);
  const ofNamespace = fits(metadataText(subject.operations, "name"), names);
  const inside = fits("request.namespace", names);
  const [own, others] = wanted
    ? [either(ofNamespace), `!has(request.namespace) || ${inside}`]
    : [`!(${ofNamespace})`, `!(has(request.namespace) && ${either(inside)})`];
  if (subject.isOnlyNamespaces) return wanted ? ofNamespace : own;
  if (!subject.canBeNamespace) return others;
  return `request.kind.group == "" && request.kind.kind == "Namespace"\n  ? ${own}\n  : ${either(others)}`;
}

/** A text of the object's metadata in CEL: without an object, of the old one's. */
function metadataText(operations: readonly string[], key: string): string {
  const isThere = operations.every((operation) => operation === "CREATE" || operation === "UPDATE");
  const metadata = isThere ? "object.metadata" : "(object == null ? oldObject : object).?metadata";
  return `${metadata}.?${key}.orValue("")`;
}

function nameCondition(reading: Reading, operations: readonly string[]): string {
  const path: Path = [...MATCH, "name"];
  const name = reading.text(path) ?? "";
  if (name === "") return "";
  checkName(reading, name, path);
  const own = fits(metadataText(operations, "name"), [name]);
  return name.endsWith(ANY) ? `${own} || ${fits(metadataText(operations, "generateName"), [name])}` : own;
}

/**
 * The selectors: members of the policy's match constraints, or of bindings. That of namespaces is about a Namespace's own labels, before and after, as
 * selectors of objects are. So Namespaces have a scope of their own where other kinds can be meant, too.
 */
function selectorsOf(
  reading: Reading,
  { canBeNamespace, isOnlyNamespaces, operations }: Subject,
): { readonly common: JsonObject; readonly scopes: readonly Scope[] } {
  const objectSelector = selector(reading, "labelSelector");
  const namespaceSelector = selector(reading, "namespaceSelector");
  const common = { ...(namespaceSelector && { namespaceSelector }), ...(objectSelector && { objectSelector }) };
  const scopes = [{ suffix: "", matchResources: {} }];
  if (namespaceSelector === undefined || !canBeNamespace) return { common, scopes };
  const both = { objectSelector: objectSelector ? joined([namespaceSelector, objectSelector]) : namespaceSelector };
  if (isOnlyNamespaces) return { common: both, scopes };
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
  const found = reading.map(path);
  return found === undefined || Object.keys(found).length === 0 ? undefined : found;
}

/** A selector of what all of them select. */
function joined(selectors: readonly JsonObject[]): JsonObject {
  const expressions = selectors.flatMap(({ matchLabels, matchExpressions }) => [
    ...Object.entries(matchLabels ?? {}).map(([key, value]) => ({ key, operator: "In", values: [value] })),
    ...(Array.isArray(matchExpressions) ? matchExpressions : []),
  ]);
  return { matchExpressions: expressions };
}
