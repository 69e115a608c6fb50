/** What the agent of a cluster is told on the command line. */

/** How the agent works. */
export interface ClusterSettings {
  /** Policies of this name in `spec.policyServer` are ours. */
  readonly policyServer: string;
  /** Namespaces whose PolicyExceptions count (see `countsIn` of config/from-cluster). */
  readonly exceptionNamespaces: ReadonlySet<string>;
  /** The namespace that this server runs in: its Leases and Secrets stand there. */
  readonly namespace: string;
  /** Of this replica; part of its Lease's name. */
  readonly replica: string;
  /** Whether ValidatingAdmissionPolicies get webhooks, too. */
  readonly enforceAdmissionPolicies: boolean;
  /** The Service that webhooks ask. */
  readonly service: { readonly namespace: string; readonly name: string };
  /** `https://host:port`: what webhooks ask in the Service's place. */
  readonly webhookUrl?: string | undefined;
  readonly manageWebhooks: boolean;
  /** The ClusterRole that owns cluster-scoped objects that are made. */
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
