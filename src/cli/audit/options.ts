/** The options of `audit` beside those of loading. */
import { type Command, Option } from "commander";

/** One option. */
export interface AuditOption {
  /** As commander writes them: `-n, --namespace <name>`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string;
}

/** All of them, in the order of the help. */
export const AUDIT_OPTIONS: readonly AuditOption[] = [
  {
    flags: "--from-cluster",
    description: "the policies that the cluster has, beside those of the policies file, which may be absent",
  },
  {
    flags: "--policy-server-name <name>",
    default: "default",
    description: "with --from-cluster: of Kubewarden's policies those for this PolicyServer",
  },
  {
    flags: "--exception-namespaces <names>",
    description:
      "with --from-cluster: comma-separated namespaces whose PolicyExceptions count, or '*' for all; without it none",
  },
  { flags: "-n, --namespace <name>", description: "only objects of this namespace" },
  {
    flags: "--exclude-namespaces <names>",
    description: "comma-separated namespaces whose objects are left alone",
  },
  {
    flags: "-o, --output <format>",
    choices: ["table", "json", "yaml", "sarif", "junit"],
    default: "table",
    description: "what is printed of all that does not pass; json and yaml: as report resources",
  },
  {
    flags: "--write-reports",
    description: "write reports into the cluster as well, one for each object with findings",
  },
  {
    flags: "--report-api <group>",
    choices: ["openreports.io", "wgpolicyk8s.io"],
    default: "openreports.io",
    description: "the API group of reports",
  },
  { flags: "--remove-color", description: "no colours, and no progress bar" },
];

/** Values by the options' names. */
export interface AuditValues {
  readonly fromCluster?: true;
  readonly policyServerName: string;
  readonly exceptionNamespaces?: string;
  readonly namespace?: string;
  readonly excludeNamespaces?: string;
  readonly output: "table" | "json" | "yaml" | "sarif" | "junit";
  readonly writeReports?: true;
  readonly reportApi: "openreports.io" | "wgpolicyk8s.io";
  readonly removeColor?: true;
}

/** Adds them to the command. */
export function addAuditOptions(command: Command): void {
  for (const { flags, description, choices, default: fallback } of AUDIT_OPTIONS) {
    const option = new Option(flags, description);
    if (choices !== undefined) option.choices(choices);
    if (fallback !== undefined) option.default(fallback);
    command.addOption(option);
  }
}
