/** Values that are read when the metrics are read. */
export type GaugeName = keyof typeof GAUGE_HELP;

/** The meaning of each. */
export const GAUGE_HELP = {
  requests_in_flight: "Evaluations under way.",
  requests_queued: "Requests waiting for an evaluation to finish.",
  policies: "Policies and groups that are served.",
  policies_unavailable: "Served policies that could not be loaded and deny every request.",
  policies_in_shadow: "Policies with a version in shadow.",
  certificate_expiry_timestamp_seconds: "When the server's certificate ends, in seconds since 1970.",
  cluster_contact_timestamp_seconds:
    "When the API server last answered the agent of `--from-cluster`, in seconds since 1970. It is asked every 10 s.",
  cluster_sources_unread: "Kinds of policies in the cluster that could not be read, or not yet.",
  cluster_documents: "Resources of the cluster that are served as policies or belong to them.",
  cluster_replicas: "Replicas of this server that this one knows to be there, itself among them.",
  cluster_leader: "1 while this replica leads, else 0.",
  cluster_webhooks_refused: "Webhooks that the API server refuses, as this replica has found as leader; else 0.",
  cluster_webhooks_unwritable:
    "1 while this replica leads and can't read or write all webhook configurations, else 0: what it should change stays.",
  audit_objects: "Objects that the last background audit of this replica has looked at.",
  audit_evaluated_objects:
    "Those of them that policies were asked about: all others, and the policies, had not changed.",
  audit_duration_seconds: "How long the last background audit took.",
  audit_timestamp_seconds: "When it ended, in seconds since 1970.",
  audit_problems:
    "What it could not look at: kinds that can't be listed, policies that can't be loaded, reports that can't be written.",
} as const;

/** All possible gauges. */
export const GAUGES = Object.keys(GAUGE_HELP) as readonly GaugeName[];

/** Gauges that have the same value in every process, rather than parts of a sum. */
export const SAME_EVERYWHERE: readonly GaugeName[] = [
  "policies",
  "policies_unavailable",
  "policies_in_shadow",
  "certificate_expiry_timestamp_seconds",
];
