/** `eval` on the command line. */
import type { Command } from "commander";
import { UsageError } from "../../data/command-io.js";
import { addCertificateRequestOptions } from "../certificate-request-options.js";
import { type AddCommand, LOADING_OPTIONS, withExamples, withImageLayouts, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";

/** Adds `eval`. */
export const addEval: AddCommand = (program, { io, done }) => {
  const evaluate = program
    .command("eval")
    .description("ask policies and print their answers; exit 0 allowed, 1 denied, 2 error");
  addQuestionOptions(evaluate)
    .argument("[policies...]", "ids of policies, groups and <group>/<member>, or a module, a YAML file, an address")
    .option("--all", "every policy of the file")
    .option(
      "--from-cluster",
      "the policies that the cluster has, under the ids of `serve --from-cluster`, in place of a file's",
    )
    .option("--kyverno-cluster-policies", "with --from-cluster: Kyverno's ClusterPolicies and Policies, too")
    .option("-o, --output <text|json|yaml>", "how answers are printed; default: text on a terminal, else json")
    .option("--explain", "say what every expression came to, and why")
    .option("--record-host-capabilities <file>", "write what the policy asked of the host, and the answers")
    .option(
      "--replay-host-capabilities <file>",
      "answer the policy from such a file instead of a cluster or a registry",
    )
    .option("--batch", "instead, decide cases written down whole, JSON lines on standard input")
    .option("--cases <format>", "with --batch: how they are written", "validating-admission-policy");
  addCertificateRequestOptions(evaluate);
  withExamples(evaluate, [
    ["policy-server eval replica-limit --object deployment.yaml", "a policy of policies.yaml, about an object"],
    ["policy-server eval --all --object manifests/", "every policy, about all objects of a folder"],
    [
      "policy-server eval ./policy.wasm --settings '{\"level\": 3}' --object pod.yaml",
      "a module, without a policies.yaml",
    ],
    [
      "policy-server eval ./policy.yaml --object pod.yaml --explain",
      "a CEL policy, with the value of every expression",
    ],
    [
      "policy-server eval mutatingadmissionpolicy-sidecar --from-cluster --object pod.yaml --explain",
      "a policy of the cluster, with its parameters",
    ],
    ["kubectl get pod web -o yaml | policy-server eval workloads --object -", "an object of a cluster"],
  ]);
  withOptions(withImageLayouts(evaluate), LOADING_OPTIONS).action(async (asked: string[]) => {
    const { batch, cases, explain } = evaluate.opts<{ batch?: true; cases: string; explain?: true }>();
    if (batch) {
      if (explain) throw new UsageError("--explain is about one answer, and not for --batch");
      const { evalBatchCommand } = await import("../../offline/cases/eval-batch.js");
      const { kubernetesVersion: version } = settingsOf(evaluate, io);
      return done(await evalBatchCommand({ cases, version }, io));
    }
    const { evalCommand } = await import("../eval/index.js");
    done(await evalCommand(asked, evaluate.opts(), settingsOf(evaluate, io), io));
  });
};

/** Adds the options of `eval` and `bench` for subjects and policies. */
export function addQuestionOptions(command: Command): Command {
  return command
    .option(
      "--object <file>",
      "Kubernetes objects (YAML or JSON; - is standard input): a file or folder, as often as wanted",
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .option("--old <file>", "its former state")
    .option("--csr <file>", "a CSR (PEM or DER) instead: the object is a CertificateRequest made of it")
    .option("--operation <name>", "CREATE, UPDATE, DELETE or CONNECT")
    .option("--namespace <name>", "namespace of the request")
    .option("--request <file>", "a whole AdmissionReview instead, or what is in its request")
    .option("--raw <file>", "any JSON as raw payload instead")
    .option("--settings <file-or-map>", "of a module that is named itself: a file, or a map such as '{\"level\": 3}'")
    .option("--allowed-to-mutate", "such a module or file may change the object")
    .option("--execution-mode <name>", "what such a module speaks, where it does not say so itself");
}
