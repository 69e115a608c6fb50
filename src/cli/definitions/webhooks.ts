/** `webhooks` on the command line. */
import { Option } from "commander";
import { type AddCommand, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";

/** Options of the file, and of fetching modules for their metadata. */
const WANTED: ReadonlySet<string> = new Set([
  "policies",
  "policies-download-dir",
  "sources-path",
  "verification-path",
  "docker-config-json-path",
  "sigstore-cache-dir",
  "sigstore-trust-config",
]);
const OPTIONS = LOADING_OPTIONS.filter(({ flag }) => WANTED.has(flag));

/** Adds `webhooks`. */
export const addWebhooks: AddCommand = (program, { io, done }) => {
  const webhooks = program
    .command("webhooks")
    .description("print the webhook configurations by which a cluster asks the policies of a policies.yaml")
    .argument("[file]", "the policies file (as --policies)")
    .option("--service <namespace/name>", "the Service of the server", "policy-server/policy-server")
    .option("--webhook-url <url>", "https://<host>:<port> of a server without a Service")
    .option("--ca-file <file>", "PEM: who has signed the server's certificate")
    .option("--timeout <seconds>", "how long the API server waits for each, 1 to 30, whatever entries and policies say")
    .addOption(
      new Option(
        "--failure-policy <policy>",
        "what it does where a webhook can't be asked, whatever policies say",
      ).choices(["Fail", "Ignore"]),
    )
    .addOption(new Option("-o, --output <format>", "how it is printed").choices(["yaml", "json"]).default("yaml"))
    .option(
      "--static",
      "as static manifests, which an API server reads from a directory at its start; with --webhook-url",
    )
    .addOption(new Option("--type <type>", "only those of one type").choices(["validating", "mutating"]))
    .option(
      "--from-cluster",
      "what the leader of a server makes of the policies that the cluster has; ids of a policies file go before theirs",
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
    .option(
      "--exempt-namespaces <names>",
      "comma-separated namespaces that no webhook asks about, also by patterns such as openshift-*, beside kube-system and the Service's own",
    )
    .option("--enforce-admission-policies", "with --from-cluster: of ValidatingAdmissionPolicies, too")
    .option(
      "--enforce-mutating-admission-policies",
      "with --from-cluster: of MutatingAdmissionPolicies, too, where the API server's own plugin is off",
    )
    .option(
      "--kubeconfig <file>",
      "with --from-cluster: of the cluster; without it KUBECONFIG, ~/.kube/config, or the pod's service account",
    );
  withOptions(webhooks, OPTIONS).action(async (file: string | undefined) => {
    const { webhooksCommand } = await import("../webhooks.js");
    const settings = settingsOf(webhooks, io, OPTIONS);
    done(await webhooksCommand(file === undefined ? settings : { ...settings, file }, webhooks.opts(), io));
  });
  withExamples(webhooks, [
    [
      "policy-server webhooks --ca-file ca.crt | kubectl apply -f -",
      "register the policies of policies.yaml in a cluster",
    ],
    [
      "policy-server webhooks gateway.yaml --webhook-url https://10.0.0.5:3000",
      "the same for a server outside of the cluster",
    ],
    [
      "policy-server webhooks --static --type validating --webhook-url https://10.0.0.5:3000 --ca-file ca.crt",
      "for the staticManifestsDir of the plugin ValidatingAdmissionWebhook",
    ],
    [
      "policy-server webhooks --failure-policy Ignore --timeout 5 -o json",
      "for trying them out: where the server does not answer within 5 seconds, requests pass",
    ],
  ]);
};
