/** Converts options of the command line to settings for loading; the only code that knows both. */
import type { Command } from "commander";
import type { ClusterEntryOptions } from "../config/from-cluster/index.js";
import { NAMESPACED_POLICY_KINDS, type NamespacedPolicyKind } from "../config/from-cluster/policy-ids.js";
import { type CommandIo, type Environment, UsageError } from "../data/command-io.js";
import { dns1123LabelErrors } from "../kubernetes/name-formats.js";
import type { LoaderSettings } from "../loader/settings.js";
import { LOADING_OPTIONS } from "./definition.js";
import { kubernetesVersion } from "./kubernetes-version.js";
import { type OptionValues, optionValues } from "./options.js";

/** The loader settings of a command's options. @throws UsageError */
export const settingsOf = (command: Command, { env }: CommandIo, definitions = LOADING_OPTIONS): LoaderSettings => ({
  ...loaderSettings(optionValues(command, definitions, env), env),
  imageLayouts: command.opts<{ readonly imageLayout?: readonly string[] }>().imageLayout,
});

/** The settings, without policies of a cluster; the environment is part of them. */
export function loaderSettings(values: OptionValues, environment: Environment): LoaderSettings {
  const { policyTimeout, httpBlocklist, httpAllowlist } = values;
  const milliseconds = policyTimeout === undefined ? undefined : policyTimeout * 1000;
  return {
    file: values.policies,
    shadowFile: values.shadowPolicies,
    policyTimeout: values.disableTimeoutProtection ? Number.POSITIVE_INFINITY : milliseconds,
    costFactor: values.celCostFactor,
    kubernetesVersion: values.kubernetesVersion === undefined ? undefined : kubernetesVersion(values.kubernetesVersion),
    workers: values.workers,
    warmStart: !values.disableWarmStart,
    kubernetes: values.kubernetes,
    kubeconfig: values.kubeconfig,
    ignoreMissingCluster: values.ignoreKubernetesConnectionFailure,
    egress: {
      forNamespaced: values.allowHttpInNamespacedPolicies ?? false,
      ...(httpBlocklist !== undefined && { blocklist: httpBlocklist.split(",") }),
      ...(httpAllowlist !== undefined && { allowlist: httpAllowlist.split(",") }),
    },
    downloadDirectory: values.policiesDownloadDir,
    sourcesFile: values.sourcesPath,
    verificationFile: values.verificationPath,
    dockerConfigDirectory: values.dockerConfigJsonPath,
    sigstoreDirectory: values.sigstoreCacheDir,
    sigstoreTrustFile: values.sigstoreTrustConfig,
    environment,
  };
}

/** The options about policies of a cluster, of `serve` and `audit`. */
type ClusterValues = Pick<
  OptionValues,
  | "policyServerName"
  | "exceptionNamespaces"
  | "namespacedPolicyKinds"
  | "namespacedPolicyMemory"
  | "namespacedPolicyModuleSize"
  | "namespacedPolicyPlaces"
  | "kyvernoClusterPolicies"
>;

/**
 * The choice of a cluster's policies.
 * @throws UsageError for an unknown kind, and an invalid namespace
 */
export function clusterEntryOptions(values: ClusterValues): ClusterEntryOptions {
  const { namespacedPolicyKinds: kinds, namespacedPolicyPlaces: places } = values;
  const { namespacedPolicyMemory: memoryMiB, namespacedPolicyModuleSize: moduleMiB } = values;
  return {
    policyServer: values.policyServerName ?? "default",
    namespaced: {
      ...(kinds !== undefined && { kinds: new Set(commaSeparated(kinds).map(kindOf)) }),
      ...(memoryMiB !== undefined && { memoryMiB }),
      ...(moduleMiB !== undefined && { moduleMiB }),
      ...(places !== undefined && { places: commaSeparated(places) }),
    },
    exceptionNamespaces: exceptionNamespaces(values),
    ...(values.kyvernoClusterPolicies && { kyvernoClusterPolicies: true }),
  };
}

/**
 * The option `exception-namespaces`: without it PolicyExceptions count nowhere.
 * @throws UsageError for an invalid namespace
 */
export function exceptionNamespaces({ exceptionNamespaces: names = "" }: ClusterValues): ReadonlySet<string> {
  const found = commaSeparated(names);
  const wrong = found.find((name) => name !== "*" && dns1123LabelErrors(name).length > 0);
  if (wrong === undefined) return new Set(found);
  throw new UsageError(`error parsing arguments: --exception-namespaces: '${wrong}' is neither a namespace nor '*'`);
}

/** Most characters of all exempt namespaces: they stand in every webhook. */
const MOST_EXEMPT_CHARACTERS = 2_000;

/**
 * The option `exempt-namespaces`: names, and patterns with `*`.
 * @throws UsageError for one that fits no namespace, or all of them, and for too many
 */
export function exemptNamespaces(names = ""): readonly string[] {
  const found = [...new Set(commaSeparated(names))];
  const mistake = (what: string): UsageError => new UsageError(`error parsing arguments: --exempt-namespaces: ${what}`);
  const wrong = found.find((name) => dns1123LabelErrors(name.replaceAll("*", "a")).length > 0);
  if (wrong !== undefined) throw mistake(`'${wrong}' is neither a namespace nor a pattern with '*' for some`);
  const everything = found.find((name) => /^\*+$/.test(name));
  if (everything !== undefined) throw mistake(`'${everything}' exempts all namespaces: no policy would be asked`);
  if (names.length > MOST_EXEMPT_CHARACTERS) throw mistake(`it has more than ${MOST_EXEMPT_CHARACTERS} characters`);
  return found;
}

function kindOf(name: string): NamespacedPolicyKind {
  const kind = NAMESPACED_POLICY_KINDS.find((each) => each === name);
  if (kind !== undefined) return kind;
  const known = NAMESPACED_POLICY_KINDS.join(", ");
  throw new UsageError(`error parsing arguments: --namespaced-policy-kinds: '${name}' is none of ${known}`);
}

/** The parts of a list with commas. */
export const commaSeparated = (text: string): string[] =>
  text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
