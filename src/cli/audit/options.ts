/** The options of `audit` beside those of loading. */
import { type Command, Option } from "commander";

/** Values by the options' names. */
export interface AuditValues {
  readonly fromCluster?: true;
  readonly policyServerName: string;
  readonly exceptionNamespaces?: string;
  readonly kyvernoClusterPolicies?: true;
  readonly namespace?: string;
  readonly excludeNamespaces?: string;
  readonly output: "table" | "json" | "yaml" | "sarif" | "junit";
  readonly writeReports?: true;
  readonly reportApi: "openreports.io" | "wgpolicyk8s.io";
  readonly removeColor?: true;
  readonly upgrade?: string;
}

/** Adds the options to the command, in the order of the help. */
export function addAuditOptions(command: Command): void {
  command
    .option(
      "--from-cluster",
      "the policies that the cluster has, beside those of the policies file, which may be absent",
    )
    .option(
      "--policy-server-name <name>",
      "with --from-cluster: of Kubewarden's policies those for this PolicyServer",
      "default",
    )
    .option("--kyverno-cluster-policies", "with --from-cluster: Kyverno's ClusterPolicies and Policies, too")
    .option(
      "--exception-namespaces <names>",
      "with --from-cluster: comma-separated namespaces whose PolicyExceptions count, or '*' for all; without it none",
    )
    .option("-n, --namespace <name>", "only objects of this namespace")
    .option("--exclude-namespaces <names>", "comma-separated namespaces whose objects are left alone")
    .addOption(
      new Option(
        "-o, --output <format>",
        "what is printed of all that does not pass; json and yaml: as report resources",
      )
        .choices(["table", "json", "yaml", "sarif", "junit"])
        .default("table"),
    )
    .option("--write-reports", "write reports into the cluster as well, one for each object with findings")
    .addOption(
      new Option("--report-api <group>", "the API group of reports")
        .choices(["openreports.io", "wgpolicyk8s.io"])
        .default("openreports.io"),
    )
    .option(
      "--upgrade <version>",
      "instead, say which objects a newer Kubernetes decides otherwise about; exit 1 if there is one",
    )
    .option("--remove-color", "no colours, and no progress bar");
}
