/** The options of `apply`: Kyverno's, with its short forms, and ours (spec kyverno.md 8.9). */
import { type Command, InvalidArgumentError, Option } from "commander";
import { addCertificateRequestOptions, type CertificateRequestValues } from "../certificate-request-options.js";

/** One option. */
export interface ApplyOption {
  /** As commander writes them: `-r, --resource <paths>`. */
  readonly flags: string;
  readonly description: string;
  /** `paths` may come several times, and with commas. */
  readonly kind: "flag" | "text" | "paths" | "number" | readonly string[];
  readonly default?: string;
  /** Another spelling of one that is in the help. */
  readonly hidden?: true;
}

/** All of them, in the order of the help. */
export const APPLY_OPTIONS: readonly ApplyOption[] = [
  {
    flags: "-r, --resource <paths>",
    kind: "paths",
    description: "resources, CSRs among them: files, folders, or - for standard input",
  },
  { flags: "--resources <paths>", kind: "paths", description: "as --resource", hidden: true },
  {
    flags: "--json <paths>",
    kind: "paths",
    description: "JSON payloads for policies of that mode, instead of resources",
  },
  {
    flags: "--http-payload <paths>",
    kind: "paths",
    description: "HTTP requests (JSON) for policies of the mode HTTP",
  },
  {
    flags: "--envoy-payload <paths>",
    kind: "paths",
    description: "what Envoy asks (JSON) for policies of the mode Envoy",
  },
  { flags: "-c, --cluster", kind: "flag", description: "take the resources from the cluster of the kubeconfig" },
  {
    flags: "-n, --namespace <name>",
    kind: "text",
    description:
      "with --cluster: of this namespace only; with a CSR: where its CertificateRequest is, default otherwise",
  },
  { flags: "-f, --values-file <file>", kind: "text", description: "values: operation, Namespaces, subresources" },
  {
    flags: "-s, --set <values>",
    kind: "paths",
    description: "values of variables; CEL policies have none",
    hidden: true,
  },
  { flags: "-u, --userinfo <file>", kind: "text", description: "who asks" },
  {
    flags: "--context-file <file>",
    kind: "text",
    description: "objects and images that policies find without a cluster",
  },
  { flags: "-e, --exception <files>", kind: "paths", description: "PolicyExceptions" },
  { flags: "--exceptions <files>", kind: "paths", description: "as --exception", hidden: true },
  {
    flags: "--exceptions-within-resources",
    kind: "flag",
    description: "take the PolicyExceptions among the resources",
  },
  { flags: "--exceptions-with-resources", kind: "flag", description: "as --exceptions-within-resources", hidden: true },
  { flags: "--exceptions-within-policies", kind: "flag", description: "take those among the policies, too" },
  { flags: "--crd-paths <paths>", kind: "paths", description: "CustomResourceDefinitions of the resources' kinds" },
  {
    flags: "--parameter-resource <files>",
    kind: "paths",
    description:
      "parameters of ValidatingAdmissionPolicies; Namespaces for policies; Roles and bindings for CertificateRequestPolicies",
  },
  {
    flags: "--assume-bound",
    kind: "flag",
    description: "everybody may use every CertificateRequestPolicy; no Roles and bindings, and no cluster, are asked",
  },
  { flags: "-p, --policy-report", kind: "flag", description: "print policy reports" },
  {
    flags: "--report-api <group>",
    kind: ["openreports.io", "wgpolicyk8s.io"],
    default: "openreports.io",
    description: "with --policy-report: the API group of the reports",
  },
  { flags: "--output-format <format>", kind: ["yaml", "json"], default: "yaml", description: "of policy reports" },
  { flags: "-t, --table", kind: "flag", description: "print a table" },
  { flags: "--detailed-results", kind: "flag", description: "with --table: with messages" },
  { flags: "--remove-color", kind: "flag", description: "no colours, and no progress bar" },
  {
    flags: "--junit <file>",
    kind: "text",
    description: "write the results as JUnit XML as well; -: print nothing else",
  },
  { flags: "--sarif <file>", kind: "text", description: "write them as SARIF 2.1.0 as well; -: print nothing else" },
  { flags: "--audit-warn", kind: "flag", description: "failures are warnings in reports and tables" },
  { flags: "--warn-exit-code <code>", kind: "number", description: "exit code for --warn-no-pass" },
  { flags: "--warn-no-pass", kind: "flag", description: "say so when nothing passes, and exit with that code" },
  {
    flags: "--continue-on-fail",
    kind: "flag",
    description: "go on when a policy does not compile; exit 1 all the same",
  },
];

/** Values by the options' names. */
export interface ApplyValues extends CertificateRequestValues {
  readonly resource?: readonly string[];
  readonly resources?: readonly string[];
  readonly json?: readonly string[];
  readonly httpPayload?: readonly string[];
  readonly envoyPayload?: readonly string[];
  readonly cluster?: true;
  readonly namespace?: string;
  readonly valuesFile?: string;
  readonly set?: readonly string[];
  readonly userinfo?: string;
  readonly contextFile?: string;
  readonly exception?: readonly string[];
  readonly exceptions?: readonly string[];
  readonly exceptionsWithinResources?: true;
  readonly exceptionsWithResources?: true;
  readonly exceptionsWithinPolicies?: true;
  readonly crdPaths?: readonly string[];
  readonly parameterResource?: readonly string[];
  readonly assumeBound?: true;
  readonly policyReport?: true;
  readonly reportApi: "openreports.io" | "wgpolicyk8s.io";
  readonly outputFormat: "yaml" | "json";
  readonly table?: true;
  readonly detailedResults?: true;
  readonly removeColor?: true;
  readonly junit?: string;
  readonly sarif?: string;
  readonly auditWarn?: true;
  readonly warnExitCode?: number;
  readonly warnNoPass?: true;
  readonly continueOnFail?: true;
}

/** Adds them to the command. */
export function addApplyOptions(command: Command): void {
  for (const { flags, kind, description, default: fallback, hidden } of APPLY_OPTIONS) {
    const option = new Option(flags, description);
    if (kind === "paths") option.argParser(collected);
    else if (kind === "number") option.argParser(exitCode);
    else if (kind !== "flag" && kind !== "text") option.choices(kind);
    if (fallback !== undefined) option.default(fallback);
    if (hidden) option.hideHelp();
    command.addOption(option);
  }
  addCertificateRequestOptions(command);
}

const collected = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text.split(","),
];

function exitCode(text: string): number {
  const value = Number(text);
  if (/^\d{1,3}$/.test(text) && value <= 255) return value;
  throw new InvalidArgumentError(`'${text}' is not an exit code`);
}
