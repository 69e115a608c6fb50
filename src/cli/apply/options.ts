/** The options of `apply`: Kyverno's, with its short forms, and ours (spec kyverno.md 8.9). */
import { type Command, InvalidArgumentError, Option } from "commander";
import { addCertificateRequestOptions, type CertificateRequestValues } from "../certificate-request-options.js";
import { addKyvernoFlags } from "../kyverno-flags.js";

/** Values by the options' names. */
export interface ApplyValues extends CertificateRequestValues {
  readonly resource?: readonly string[];
  readonly json?: readonly string[];
  readonly httpPayload?: readonly string[];
  readonly envoyPayload?: readonly string[];
  readonly changed?: string;
  readonly cluster?: true;
  readonly namespace?: string;
  readonly clusterWideResources?: true;
  readonly valuesFile?: string;
  readonly set?: readonly string[];
  readonly userinfo?: string;
  readonly contextFile?: string;
  readonly exception?: readonly string[];
  readonly exceptionsWithinResources?: true;
  readonly exceptionsWithinPolicies?: true;
  readonly crdPaths?: readonly string[];
  readonly parameterResource?: readonly string[];
  readonly assumeBound?: true;
  readonly output?: string;
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
  readonly compat?: "kyverno";
}

/** Adds the options to the command, in the order of the help; `paths` may come several times, and with commas. */
export function addApplyOptions(command: Command): void {
  command
    .option("-r, --resource <paths>", "resources, CSRs among them: files, folders, or - for standard input", collected)
    .addOption(alias("--resources <paths>", "resource").argParser(collected))
    .option("--json <paths>", "JSON payloads for policies of that mode, instead of resources", collected)
    .option("--http-payload <paths>", "HTTP requests (JSON) for policies of the mode HTTP", collected)
    .option("--envoy-payload <paths>", "what Envoy asks (JSON) for policies of the mode Envoy", collected)
    .option(
      "--changed <base>",
      "of the resources only those in files that have changed in git since the merge base with this commit or branch",
    )
    .option("-c, --cluster", "take the resources from the cluster of the kubeconfig")
    .option(
      "-n, --namespace <name>",
      "with --cluster: of this namespace only; with a CSR: where its CertificateRequest is, default otherwise",
    )
    .option("-f, --values-file <file>", "values: operation, Namespaces, subresources")
    .addOption(
      new Option("-s, --set <values>", "values of variables; CEL policies have none").argParser(collected).hideHelp(),
    )
    .option("-u, --userinfo <file>", "who asks")
    .option("--context-file <file>", "objects and images that policies find without a cluster")
    .option("-e, --exception <files>", "PolicyExceptions", collected)
    .addOption(alias("--exceptions <files>", "exception").argParser(collected))
    .option("--exceptions-within-resources", "take the PolicyExceptions among the resources")
    .addOption(alias("--exceptions-with-resources", "exceptionsWithinResources"))
    .option("--exceptions-within-policies", "take those among the policies, too")
    .option("--crd-paths <paths>", "CustomResourceDefinitions of the resources' kinds", collected)
    .addOption(alias("--crd-path <paths>", "crdPaths").argParser(collected))
    .option(
      "--parameter-resource <files>",
      "parameters of ValidatingAdmissionPolicies; Namespaces for policies; Roles and bindings for CertificateRequestPolicies",
      collected,
    )
    .option(
      "--assume-bound",
      "every requester may use every CertificateRequestPolicy; no Roles and bindings, and no cluster, are asked",
    )
    .option("-o, --output <file>", "write the resources that policies change into this .yaml file, or this folder")
    .option("-p, --policy-report", "print policy reports")
    .addOption(
      new Option("--report-api <group>", "with --policy-report: the API group of the reports")
        .choices(["openreports.io", "wgpolicyk8s.io"])
        .default("openreports.io"),
    )
    .addOption(new Option("--output-format <format>", "of policy reports").choices(["yaml", "json"]).default("yaml"))
    .option("-t, --table", "print a table")
    .option("--detailed-results", "with --table: with messages")
    .option("--remove-color", "no colours, and no progress bar")
    .option("--junit <file>", "write the results as JUnit XML as well; -: print nothing else")
    .option("--sarif <file>", "write them as SARIF 2.1.0 as well; -: print nothing else")
    .option("--audit-warn", "failures are warnings in reports and tables")
    .option("--warn-exit-code <code>", "exit code for --warn-no-pass", exitCode)
    .option("--warn-no-pass", "say so when nothing passes, and exit with that code")
    .option("--continue-on-fail", "go on when a policy does not compile; exit 2 all the same")
    .addOption(
      new Option("--compat <command>", "exit as this command does; what is printed stays").choices(["kyverno"]),
    );
  addCertificateRequestOptions(command);
  addKyvernoFlags(command, "apply");
}

/** Another spelling of the option with a name. */
const alias = (flags: string, name: string): Option =>
  Object.assign(new Option(flags).hideHelp(), { attributeName: () => name });

const collected = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text.split(","),
];

function exitCode(text: string): number {
  const value = Number(text);
  if (/^\d{1,3}$/.test(text) && value <= 255) return value;
  throw new InvalidArgumentError(`'${text}' is not an exit code`);
}
