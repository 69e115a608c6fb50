/**
 * Every option of `serve`: flag, variable, default and meaning in one table, from which the command line, its help and docs/command-line.md are
 * made (spec kubewarden.md 2).
 */
import { defined, type OptionDefinition, type Written } from "./option-definition.js";

const OPTIONS = [
  { flag: "policies", kind: "string", description: "the policies file; without it policies.yaml, or policies.yml" },
  {
    flag: "addr",
    env: "KUBEWARDEN_BIND_ADDRESS",
    kind: "string",
    default: "0.0.0.0",
    description: "IP address to listen on",
  },
  { flag: "port", kind: "port", default: 3000, description: "port of the API" },
  { flag: "readiness-probe-port", kind: "port", default: 8081, description: "port of the probes, always plain HTTP" },
  {
    flag: "workers",
    kind: "integer",
    description:
      "processes that answer requests, each with two guests at a time; without it as many as it may use processors",
  },
  {
    flag: "page",
    kind: { choices: ["off", "read", "play"] },
    default: "read",
    description:
      "the page in the browser: none, one that shows what is served, or one that evaluates drafts, too (with --addr 127.0.0.1 or ::1 only)",
  },
  {
    flag: "policy-timeout",
    kind: "seconds",
    default: 2,
    description: "seconds an evaluation may take when its policy says nothing else",
  },
  {
    flag: "cel-cost-factor",
    kind: "factor",
    default: 1,
    description:
      "what the cost limits of CEL policies are multiplied by; 1: Kubernetes' own, 1,000,000 for an expression, 10,000,000 for the validations of a ValidatingAdmissionPolicy",
  },
  {
    flag: "kubernetes-version",
    kind: "string",
    description:
      "the Kubernetes, 1.28 to 1.38, as which ValidatingAdmissionPolicies, MutatingAdmissionPolicies and `cel:` entries are evaluated (check: must be stored); without it the cluster's own, where there is one, else 1.37",
  },
  { flag: "disable-timeout-protection", kind: "flag", description: "no time limit on evaluations" },
  {
    flag: "disable-warm-start",
    kind: "flag",
    description: "start every instance of a WASM module anew, in place of from a state that was taken once",
  },
  {
    flag: "always-accept-admission-reviews-on-namespace",
    kind: "string",
    description: "accept admission reviews of this namespace unseen",
  },
  {
    flag: "policies-download-dir",
    kind: "string",
    default: ".",
    description: "folder where downloaded modules are kept",
  },
  { flag: "sources-path", kind: "string", description: "sources.yml: insecure registries and certificate authorities" },
  {
    flag: "verification-path",
    env: "KUBEWARDEN_VERIFICATION_CONFIG_PATH",
    kind: "string",
    description: "verification.yml: the signatures that modules must have",
  },
  {
    flag: "docker-config-json-path",
    kind: "string",
    description: "folder that contains a Docker config.json with registry credentials",
  },
  {
    flag: "sigstore-cache-dir",
    kind: "string",
    default: "sigstore-data",
    description: "folder where Sigstore's trust root is kept",
  },
  {
    flag: "sigstore-trust-config",
    env: "KUBEWARDEN_SIGSTORE_TRUST_CONFIG_PATH",
    kind: "string",
    description: "client trust configuration that replaces Sigstore's public trust root",
  },
  {
    flag: "strict",
    kind: "flag",
    description: "refuse to start when any policy cannot be loaded, or needs a cluster and none is found",
  },
  {
    flag: "continue-on-errors",
    kind: "flag",
    description: "the default here: a policy that cannot be loaded answers with its load error; wins over --strict",
  },
  {
    flag: "log-level",
    kind: { choices: ["trace", "debug", "info", "warn", "error"] },
    default: "info",
    description: "what is logged",
  },
  {
    flag: "log-fmt",
    kind: { choices: ["text", "json", "otlp"] },
    default: "text",
    description: "how it is logged; otlp: text, and besides every line and a trace of each request over OTLP (gRPC)",
  },
  {
    flag: "enable-metrics",
    kind: "flag",
    description: "push metrics over OTLP (gRPC), where the OTEL_EXPORTER_OTLP_ variables say; /metrics is always there",
  },
  { flag: "enable-pprof", kind: "flag", description: "serve /debug/pprof/cpu and /debug/pprof/heap" },
  {
    flag: "ignore-kubernetes-connection-failure",
    kind: "flag",
    description: "start with --strict or an unusable --kubeconfig, too, although policies need a cluster",
  },
  {
    flag: "kubeconfig",
    kind: "string",
    description:
      "kubeconfig of the cluster to look things up in; without it KUBECONFIG, ~/.kube/config, or the pod's service account",
  },
  {
    flag: "http-blocklist",
    kind: "string",
    default: "169.254.169.254/32,169.254.169.253/32,fd00:ec2::254/128,metadata.google.internal,127.0.0.0/8,::1/128",
    description:
      "comma-separated hosts and ranges of addresses where nothing is asked on behalf of policies: HTTP servers, registries of images, and for policies of a cluster those of modules; empty blocks nothing",
  },
  {
    flag: "http-allowlist",
    kind: "string",
    description:
      "comma-separated beginnings of URLs (scheme, host, path) that Kyverno policies and Extism plugins may send HTTP requests to; without it all that is not blocked",
  },
  {
    flag: "allow-http-in-namespaced-policies",
    kind: "flag",
    description: "let Kyverno's NamespacedValidatingPolicies send HTTP requests, too",
  },
  {
    flag: "log-no-color",
    env: "NO_COLOR",
    kind: "switch",
    description: "no colours in text lines; they are only used on a terminal",
  },
  {
    flag: "cert-file",
    kind: "string",
    description: "certificate of the API port, PEM, with its chain; changes are taken over",
  },
  { flag: "key-file", kind: "string", description: "private key of the certificate, PEM" },
  {
    flag: "client-ca-file",
    kind: "string",
    description: "authorities of client certificates, PEM, comma-separated files; makes client certificates mandatory",
  },
  {
    flag: "client-allowed-names",
    kind: "string",
    description: "comma-separated names of which a client certificate must have one; without it any",
  },
  {
    flag: "tls-min-version",
    kind: { choices: ["1.2", "1.3"] },
    default: "1.2",
    description: "oldest TLS version that is spoken",
  },
  { flag: "max-body-bytes", kind: "integer", default: 2_097_152, description: "largest request body" },
  {
    flag: "max-concurrent-requests",
    kind: "integer",
    default: 128,
    description: "evaluations under way at a time in each process; half of them at most for one policy",
  },
  {
    flag: "max-queued-requests",
    kind: "integer",
    default: 1024,
    description: "requests that wait for a place in each process; more are refused with 429",
  },
  {
    flag: "approve",
    kind: "string",
    description:
      "policy, of CertificateRequestPolicies, by which CertificateRequests in the cluster are approved and denied; without it none",
  },
  {
    flag: "from-cluster",
    kind: "flag",
    description:
      "serve the policies that stand in the cluster as resources, beside those of the policies file, which may be absent",
  },
  {
    flag: "policy-server-name",
    kind: "string",
    default: "default",
    description:
      "with --from-cluster: Kubewarden policies with this `spec.policyServer` are served, and the PolicyServer of this name is read",
  },
  {
    flag: "namespaced-policy-kinds",
    kind: "string",
    description:
      "with --from-cluster: comma-separated kinds of policies in namespaces that are served, of AdmissionPolicy, AdmissionPolicyGroup and NamespacedValidatingPolicy; without it all",
  },
  {
    flag: "namespaced-policy-places",
    kind: "string",
    description:
      "with --from-cluster: comma-separated beginnings of addresses, such as ghcr.io/acme, that modules of policies in namespaces, and what leads to them, may have; without it any but files",
  },
  {
    flag: "namespaced-policy-memory",
    kind: "integer",
    description:
      "with --from-cluster: most memory, in MiB, of a guest of a policy in a namespace; without it the server's limit",
  },
  {
    flag: "namespaced-policy-module-size",
    kind: "integer",
    description: "with --from-cluster: most MiB that the modules of a policy in a namespace may have; without it 32",
  },
  {
    flag: "exception-namespaces",
    kind: "string",
    description:
      "with --from-cluster: comma-separated namespaces whose PolicyExceptions count, or '*' for all; without it none",
  },
  {
    flag: "exempt-namespaces",
    kind: "string",
    description:
      "with --from-cluster: comma-separated namespaces that no webhook asks about, also by patterns such as openshift-*, beside kube-system and the server's own",
  },
  {
    flag: "kyverno-cluster-policies",
    kind: "flag",
    description:
      "with --from-cluster: Kyverno's ClusterPolicies and Policies are served, too, converted to its CEL policies when they are loaded",
  },
  {
    flag: "enforce-admission-policies",
    kind: "flag",
    description:
      "with --from-cluster: ValidatingAdmissionPolicies get webhooks, too; else the API server alone enforces them, and they are here for reports, shadow and explanations",
  },
  {
    flag: "enforce-mutating-admission-policies",
    kind: "flag",
    description:
      "with --from-cluster: MutatingAdmissionPolicies get webhooks where the API server's own plugin is off; else that alone enforces them",
  },
  {
    flag: "service",
    kind: "string",
    description:
      "with --from-cluster: namespace/name of the Service that webhooks ask; without it policy-server in the own namespace",
  },
  {
    flag: "webhook-url",
    kind: "string",
    description:
      "with --from-cluster: https://host:port that webhooks ask in place of a Service, for servers outside of the cluster",
  },
  {
    flag: "manage-webhooks",
    kind: { choices: ["true", "false"] },
    default: "true",
    description: "with --from-cluster: whether webhook configurations are made and kept for the policies",
  },
  {
    flag: "owner",
    kind: "string",
    default: "policy-server",
    description:
      "with --from-cluster: ClusterRole that owns what is made outside of namespaces, so that it goes with the server",
  },
  {
    flag: "tls-secret",
    kind: "string",
    description:
      "with --from-cluster: Secret of the own namespace that holds the server's certificates; the leader makes and rotates them",
  },
  {
    flag: "webhook-ca-file",
    kind: "string",
    description:
      "with --from-cluster and --cert-file: PEM file of the authorities that webhooks are to trust; without it the last certificate of --cert-file",
  },
  {
    flag: "audit-interval",
    kind: "count",
    default: 3600,
    description: "with --from-cluster: seconds between background audits of the objects in the cluster; 0: none",
  },
  {
    flag: "audit-reports",
    kind: { choices: ["openreports", "wgpolicyk8s", "none"] },
    default: "openreports",
    description: "with --from-cluster: API group of the reports that audits write",
  },
  {
    flag: "replica-name",
    kind: "string",
    description: "with --from-cluster: what this replica is called; without it the host's name",
  },
  {
    flag: "shadow-policies",
    kind: "string",
    description: "a second policies file: its policies are asked beside those that are served, and only counted",
  },
  {
    flag: "events",
    kind: "flag",
    description: "with --from-cluster: write events about what policies deny, once a minute at most for each policy",
  },
  {
    flag: "record",
    kind: "string",
    description:
      "file that answered requests are appended to, with their answers and without credentials, for replay; without it none",
  },
  {
    flag: "record-max-bytes",
    kind: "integer",
    default: 268_435_456,
    description: "with --record: length from which the file is put aside, in place of the one before, as FILE.1",
  },
  {
    flag: "record-every",
    kind: "integer",
    default: 1,
    description: "with --record: one of so many answered requests is recorded, in each process",
  },
  {
    flag: "disable-policy-watch",
    kind: "flag",
    description: "reload policies only on SIGHUP, not when their files change",
  },
  {
    flag: "drain-delay",
    kind: "count",
    default: 0,
    description: "seconds to go on serving after SIGTERM while readiness already fails, for load balancers to notice",
  },
  {
    flag: "drain-grace",
    kind: "count",
    default: 30,
    description: "seconds that requests under way have to finish after that",
  },
  { flag: "daemon", kind: "flag", description: "go on in the background, without the terminal" },
  {
    flag: "daemon-pid-file",
    kind: "string",
    default: "policy-server.pid",
    description: "file that gets the daemon's process number",
  },
  {
    flag: "daemon-stdout-file",
    kind: "string",
    description: "file that the daemon's log is appended to; without it nothing is kept",
  },
  {
    flag: "daemon-stderr-file",
    kind: "string",
    description: "file that the daemon's error output is appended to; without it nothing is kept",
  },
] as const satisfies readonly Written[];

/** One of them, as it stands in the table. */
export type WrittenOption = (typeof OPTIONS)[number];

/** The options of `serve` that exist. */
export const SERVE_OPTIONS: readonly OptionDefinition[] = OPTIONS.map(defined);
