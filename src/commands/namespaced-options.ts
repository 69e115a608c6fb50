/** What policies of a cluster may be, from the options of the command line. */
import {
  type ClusterEntryOptions,
  NAMESPACED_POLICY_KINDS,
  type NamespacedLimits,
  type NamespacedPolicyKind,
} from "../config/from-cluster/index.js";
import { UsageError } from "./io.js";

/**
 * The options `policy-server-name`, `exception-namespaces`, `namespaced-policy-kinds`, `namespaced-policy-memory`, `namespaced-policy-module-size` and `namespaced-policy-places`.
 * @throws UsageError for a kind that there is not
 */
export function clusterEntryOptions(values: Readonly<Record<string, unknown>>): ClusterEntryOptions {
  const { policyServerName, exceptionNamespaces } = values;
  return {
    policyServer: typeof policyServerName === "string" ? policyServerName : "default",
    namespaced: namespacedLimits(values),
    ...(typeof exceptionNamespaces === "string" && { exceptionNamespaces: new Set(list(exceptionNamespaces)) }),
  };
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
