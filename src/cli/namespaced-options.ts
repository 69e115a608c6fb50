/** What policies of a cluster may be, from the options of the command line. */
import {
  type ClusterEntryOptions,
  NAMESPACED_POLICY_KINDS,
  type NamespacedLimits,
  type NamespacedPolicyKind,
} from "../config/from-cluster/index.js";
import { dns1123LabelErrors } from "../kubernetes/name-formats.js";
import { UsageError } from "./io.js";

/**
 * The options `policy-server-name`, `exception-namespaces`, `namespaced-policy-kinds`, `namespaced-policy-memory`, `namespaced-policy-module-size` and `namespaced-policy-places`.
 * @throws UsageError for a kind that there is not
 */
export function clusterEntryOptions(values: Readonly<Record<string, unknown>>): ClusterEntryOptions {
  const { policyServerName } = values;
  return {
    policyServer: typeof policyServerName === "string" ? policyServerName : "default",
    namespaced: namespacedLimits(values),
    exceptionNamespaces: exceptionNamespaces(values),
  };
}

/**
 * The option `exception-namespaces`: without it PolicyExceptions count nowhere.
 * @throws UsageError for what can be no namespace
 */
export function exceptionNamespaces({
  exceptionNamespaces: names,
}: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const found = typeof names === "string" ? list(names) : [];
  const wrong = found.find((name) => name !== "*" && dns1123LabelErrors(name).length > 0);
  if (wrong === undefined) return new Set(found);
  throw new UsageError(`error parsing arguments: --exception-namespaces: '${wrong}' is neither a namespace nor '*'`);
}

function namespacedLimits({
  namespacedPolicyKinds: kinds,
  namespacedPolicyMemory: memoryMiB,
  namespacedPolicyModuleSize: moduleMiB,
  namespacedPolicyPlaces: places,
}: Readonly<Record<string, unknown>>): NamespacedLimits {
  return {
    ...(typeof kinds === "string" && { kinds: new Set(list(kinds).map(kindOf)) }),
    ...(typeof memoryMiB === "number" && { memoryMiB }),
    ...(typeof moduleMiB === "number" && { moduleMiB }),
    ...(typeof places === "string" && { places: list(places) }),
  };
}

function kindOf(name: string): NamespacedPolicyKind {
  const kind = NAMESPACED_POLICY_KINDS.find((each) => each === name);
  if (kind !== undefined) return kind;
  const known = NAMESPACED_POLICY_KINDS.join(", ");
  throw new UsageError(`error parsing arguments: --namespaced-policy-kinds: '${name}' is none of ${known}`);
}

const list = (text: string): string[] =>
  text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
