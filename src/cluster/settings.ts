/** The settings of a cluster's agent from the command line. */

/** The settings. */
export interface ClusterSettings {
  /** The name by which policies refer to this server in `spec.policyServer`. */
  readonly policyServer: string;
  /** Namespaces whose PolicyExceptions count (see `countsIn` of config/from-cluster). */
  readonly exceptionNamespaces: ReadonlySet<string>;
  /** The namespaces that no webhook and no audit asks about, beside `kube-system` and the own one: names, and patterns with `*`. */
  readonly exemptNamespaces: readonly string[];
  /** The namespace of this server, of its Leases and Secrets. */
  readonly namespace: string;
  /** The name of this replica; part of its Lease's name. */
  readonly replica: string;
  /** Whether Kyverno's ClusterPolicies and Policies are served. */
  readonly kyvernoClusterPolicies: boolean;
  /** Whether ValidatingAdmissionPolicies get webhooks, too. */
  readonly enforceAdmissionPolicies: boolean;
  /** Whether MutatingAdmissionPolicies do, where the API server does not evaluate them itself. */
  readonly enforceMutatingAdmissionPolicies: boolean;
  /** The Service of webhooks. */
  readonly service: { readonly namespace: string; readonly name: string };
  /** `https://host:port`: what webhooks ask in the Service's place. */
  readonly webhookUrl?: string | undefined;
  readonly manageWebhooks: boolean;
  /** The ClusterRole that owns the cluster-scoped objects we create. */
  readonly owner: string;
  /** The Secret of the own namespace that holds the server's certificates. */
  readonly tlsSecret?: string | undefined;
  /** The file of the certificate, where no Secret holds it. */
  readonly certFile?: string | undefined;
  /** The file of authorities that webhooks are to trust, where no Secret holds them. */
  readonly webhookCaFile?: string | undefined;
  /** Milliseconds between background audits; 0: none. */
  readonly auditInterval: number;
  readonly auditReports: "openreports" | "wgpolicyk8s" | "none";
  /** A file of policies that are evaluated in shadow. */
  readonly shadowPolicies?: string | undefined;
  /** Whether events about policies are written. */
  readonly events: boolean;
  /** Whether the server may be ready although some kinds of policies may not be read. */
  readonly readyWithoutSources: boolean;
}
