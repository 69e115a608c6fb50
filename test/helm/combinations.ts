/** Values for the chart: every combination of its modes, every switch by itself, and values that it must refuse. */

/** Values of the chart. */
export type Values = Readonly<Record<string, unknown>>;

/** Values, and the reason why they do not go together; undefined: they do. */
export interface Combination {
  readonly name: string;
  readonly values: Values;
  readonly refused?: RegExp | undefined;
}

const PODS = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const POLICY = { cel: { validations: [{ expression: "true" }] } };

const CERTIFICATES: Readonly<Record<string, Values>> = {
  "cert-manager": {},
  issuer: { issuerRef: { kind: "ClusterIssuer", name: "company" } },
  "not ours": { ownAuthority: false },
  secret: { ownAuthority: false, certManager: false, existingSecret: "own", caBundle: "PEM" },
  "no secret": { ownAuthority: false, certManager: false },
};
const POLICIES: Readonly<Record<string, Values>> = {
  none: {},
  values: { policies: { p: POLICY } },
  existing: { existingPolicies: "mine" },
};
const WEBHOOKS: Readonly<Record<string, Values>> = {
  none: {},
  validating: { webhooks: { p: { rules: [PODS] } } },
  mutating: { webhooks: { p: { rules: [PODS], mutating: true } } },
};

/** Every combination of the modes: where policies, certificate and webhooks come from. */
export function* modes(): Generator<Combination> {
  for (const enabled of [false, true])
    for (const [certificate, ofCertificate] of Object.entries(CERTIFICATES))
      for (const [policies, ofPolicies] of Object.entries(POLICIES))
        for (const [webhooks, ofWebhooks] of Object.entries(WEBHOOKS)) {
          const values = { fromCluster: { enabled }, certificate: ofCertificate, ...ofPolicies, ...ofWebhooks };
          const ownAuthority = enabled && ofCertificate.ownAuthority !== false;
          const asks = webhooks !== "none";
          const without = (value: string): string => `values don't meet the specifications[\\s\\S]*${value}`;
          const refusals = [
            !enabled && ofCertificate.ownAuthority === false ? without("certificate/ownAuthority") : "",
            ownAuthority && certificate === "issuer" ? without("certificate/issuerRef") : "",
            !asks && certificate === "secret" ? without("certificate/caBundle") : "",
            asks && policies === "none" ? "webhooks\\.p: policies has no such policy" : "",
            asks && ownAuthority ? "webhooks\\.p: with certificate\\.ownAuthority" : "",
            certificate === "no secret" ? "certificate\\.(existingSecret|caBundle) is needed" : "",
          ].filter((text) => text !== "");
          const name = `${enabled ? "from the cluster" : "from values"}, certificate ${certificate}, policies ${policies}, webhooks ${webhooks}`;
          yield { name, values, refused: refusals.length === 0 ? undefined : new RegExp(refusals.join("|")) };
        }
}

/** Every switch away from its default, with policies of the values and with those of the cluster. */
export function* switches(): Generator<Combination> {
  const changes: readonly Values[] = [
    ...[true, false].map((enabled) => ({ autoscaling: { enabled } })),
    { disruptionBudget: { enabled: false } },
    { networkPolicy: { enabled: false } },
    { networkPolicy: { metricsFrom: [] } },
    { serviceMonitor: { enabled: true } },
    { prometheusRule: { enabled: true } },
    { priorityClassName: "" },
    { priorityClassName: "system-node-critical" },
    { clientCaSecret: "clients" },
    { modulePullSecret: "registries" },
    { imageSecrets: ["registries"] },
    { contextAware: [{ apiGroups: ["apps"], resources: ["deployments"] }] },
    { sources: { insecure_sources: ["r.example"] } },
    { extraArgs: ["--strict"], extraEnv: [{ name: "KUBEWARDEN_POLICY_TIMEOUT", value: "5" }] },
    { approver: { policy: "p" }, policies: { p: POLICY } },
    { approver: { policy: "p", signers: ["issuers.cert-manager.io/*"] }, policies: { p: POLICY } },
  ];
  const ofCluster: readonly Values[] = [
    ...["manageWebhooks", "rollouts"].map((name) => ({ fromCluster: { enabled: true, [name]: false } })),
    ...["events", "enforceAdmissionPolicies"].map((name) => ({ fromCluster: { enabled: true, [name]: true } })),
    { fromCluster: { enabled: true, exceptionNamespaces: ["a", "b"], namespacedModuleMiB: 8, policyServerName: "x" } },
    ...["openreports", "wgpolicyk8s", "none"].map((reports) => ({ audit: { reports, intervalSeconds: 60 } })),
    { audit: { intervalSeconds: 0 } },
    { audit: { resources: [] } },
    ...["kubewarden", "openreports", "wgpolicyk8s", "kyverno", "cert-manager"].flatMap((group) =>
      [true, false].map((wanted) => ({ crds: { [group]: wanted } })),
    ),
  ];
  for (const values of changes) {
    yield { name: JSON.stringify(values), values };
    yield {
      name: `from the cluster, ${JSON.stringify(values)}`,
      values: { fromCluster: { enabled: true }, ...values },
    };
  }
  for (const values of ofCluster)
    yield {
      name: `from the cluster, ${JSON.stringify(values)}`,
      values: { fromCluster: { enabled: true }, ...values },
    };
}

/** Values that the schema refuses, and the value that the message names. */
export const WRONG: readonly Combination[] = [
  { name: "an unknown value", values: { replicaCount: 2 }, refused: /replicaCount/ },
  { name: "an unknown value below another", values: { image: { name: "x" } }, refused: /image.*name/s },
  { name: "a text for a number", values: { replicas: "two" }, refused: /replicas.*integer/s },
  { name: "a fraction", values: { workers: 1.5 }, refused: /workers.*integer/s },
  { name: "a text for a flag", values: { fromCluster: { enabled: "yes" } }, refused: /fromCluster.*enabled.*boolean/s },
  { name: "reports that do not exist", values: { audit: { reports: "kyverno" } }, refused: /audit.*reports/s },
  {
    name: "reports without an audit",
    values: { fromCluster: { enabled: true }, audit: { reports: "none", intervalSeconds: 0 } },
    refused: /audit.*reports/s,
  },
  { name: "a digest without its algorithm", values: { image: { digest: "0123" } }, refused: /image.*digest/s },
  {
    name: "a failure policy in small letters",
    values: { policies: { p: POLICY }, webhooks: { p: { rules: [PODS], failurePolicy: "fail" } } },
    refused: /webhooks.*p.*failurePolicy/s,
  },
  {
    name: "a time-out beyond half a minute",
    values: { policies: { p: POLICY }, webhooks: { p: { rules: [PODS], timeoutSeconds: 31 } } },
    refused: /webhooks.*p.*timeoutSeconds/s,
  },
  {
    name: "a webhook without rules",
    values: { policies: { p: POLICY }, webhooks: { p: {} } },
    refused: /webhooks.*p.*rules/s,
  },
  { name: "a list for a map", values: { policies: ["p"] }, refused: /policies.*object/s },
  { name: "a namespace in a list of numbers", values: { exemptNamespaces: [7] }, refused: /exemptNamespaces.*string/s },
  { name: "a log level that does not exist", values: { logLevel: "loud" }, refused: /logLevel/ },
  {
    name: "a priority class that is a number",
    values: { priorityClassName: 5 },
    refused: /priorityClassName.*string/s,
  },
];
