/** The options of `serve --from-cluster` as typed settings. */
import { hostname } from "node:os";
import type { ClusterSettings } from "../cluster/settings.js";
import { UsageError } from "../data/command-io.js";
import { DEFAULT_NAMESPACE, podNamespace } from "../kubernetes/client/index.js";
import { exceptionNamespaces, exemptNamespaces } from "./loader-settings.js";
import type { ServeValues } from "./options.js";

const DEFAULT_SERVICE = "policy-server";
/** A name of an object or a label (RFC 1123). */
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
/** Longest label; and longest name of a replica, which is part of another name. */
const MAX_LABEL = 63;
const MAX_REPLICA = 200;
/** Timers of more than 24 days fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Options that need it, and have no default. */
const ONLY_WITH_IT: readonly (keyof ServeValues)[] = [
  "service",
  "webhookUrl",
  "webhookCaFile",
  "tlsSecret",
  "replicaName",
  "kyvernoClusterPolicies",
  "enforceAdmissionPolicies",
  "enforceMutatingAdmissionPolicies",
  "events",
  "namespacedPolicyKinds",
  "namespacedPolicyPlaces",
  "namespacedPolicyMemory",
  "namespacedPolicyModuleSize",
  "exceptionNamespaces",
  "exemptNamespaces",
];

/**
 * Reads the settings from option values; undefined without `--from-cluster`.
 * @throws UsageError for invalid combinations
 */
export function clusterSettings(values: ServeValues): ClusterSettings | undefined {
  if (!values.fromCluster) {
    const alone = ONLY_WITH_IT.find((name) => values[name] !== undefined && values[name] !== false);
    if (alone !== undefined) throw mistake(flagOf(alone), "needs --from-cluster");
    return undefined;
  }
  const service = values.service === undefined ? undefined : serviceOf(values.service);
  const namespace = podNamespace() ?? service?.namespace ?? DEFAULT_NAMESPACE;
  const webhookUrl = values.webhookUrl === undefined ? undefined : webhookAddress(values.webhookUrl);
  const tlsSecret = values.tlsSecret === undefined ? undefined : named("tls-secret", values.tlsSecret, NAME);
  const manageWebhooks = values.manageWebhooks !== "false";
  if (tlsSecret !== undefined && values.certFile !== undefined)
    throw mistake("tls-secret", "cannot be used together with --cert-file: either says where the certificate is");
  if (tlsSecret !== undefined && values.webhookCaFile !== undefined)
    throw mistake("webhook-ca-file", "cannot be used together with --tls-secret, which holds the authorities, too");
  if (manageWebhooks && tlsSecret === undefined && values.certFile === undefined)
    throw mistake(
      "from-cluster",
      "the API server asks webhooks by HTTPS only: give --tls-secret, or --cert-file and --key-file; --manage-webhooks false makes none",
    );
  return {
    policyServer: named("policy-server-name", values.policyServerName, LABEL, MAX_LABEL),
    exceptionNamespaces: exceptionNamespaces(values),
    exemptNamespaces: exemptNamespaces(values.exemptNamespaces),
    namespace,
    replica: named("replica-name", values.replicaName ?? hostname().toLowerCase(), NAME, MAX_REPLICA),
    kyvernoClusterPolicies: values.kyvernoClusterPolicies,
    enforceAdmissionPolicies: values.enforceAdmissionPolicies,
    enforceMutatingAdmissionPolicies: values.enforceMutatingAdmissionPolicies,
    service: service ?? { namespace, name: DEFAULT_SERVICE },
    webhookUrl,
    manageWebhooks,
    owner: values.owner,
    tlsSecret,
    certFile: values.certFile,
    webhookCaFile: values.webhookCaFile,
    auditInterval: Math.min(values.auditInterval * 1000, LONGEST_TIMER_MS),
    auditReports: values.auditReports,
    shadowPolicies: values.shadowPolicies,
    events: values.events,
    readyWithoutSources: values.ignoreKubernetesConnectionFailure,
  };
}

function serviceOf(text: string): ClusterSettings["service"] {
  const [namespace = "", name = "", more] = text.split("/");
  if (!LABEL.test(namespace) || !LABEL.test(name) || more !== undefined)
    throw mistake("service", `'${text}' is not <namespace>/<name>`);
  return { namespace, name };
}

function webhookAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url?.protocol === "https:" && url.pathname === "/" && `${url.search}${url.hash}${url.username}` === "";
  if (url === undefined || !plain) throw mistake("webhook-url", `'${text}' is not https://<host>:<port>`);
  return url.origin;
}

function named(flag: string, text: string, pattern: RegExp, longest = 253): string {
  if (pattern.test(text) && text.length <= longest) return text;
  throw mistake(flag, `'${text}' cannot be part of a name in Kubernetes (lower-case letters, digits, -)`);
}

const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const mistake = (flag: string, what: string): UsageError =>
  new UsageError(`error parsing arguments: --${flag}: ${what}`);
