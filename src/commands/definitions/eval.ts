/** `eval` on the command line. */
import { addCertificateRequestOptions } from "../certificate-request-options.js";
import { type AddCommand, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { UsageError } from "../io.js";
import { optionValues } from "../options.js";

/** Adds it. */
export const addEval: AddCommand = (program, { io, done }) => {
  const evaluate = program
    .command("eval")
    .description("ask one policy and print its answer; exit 0 allowed, 1 denied, 2 error")
    .argument("[policy]", "id of the policy, group or <group>/<member>")
    .option("--object <file>", "Kubernetes object to ask about (YAML or JSON; - is standard input)")
    .option("--old <file>", "its former state")
    .option("--csr <file>", "a CSR (PEM or DER) instead: the object is a CertificateRequest made of it")
    .option("--operation <name>", "CREATE, UPDATE, DELETE or CONNECT")
    .option("--namespace <name>", "namespace of the request")
    .option("--request <file>", "a whole AdmissionReview instead, or what is in its request")
    .option("--raw <file>", "any JSON as raw payload instead")
    .option("--explain", "say on standard error what every expression came to, and why")
    .option("--record-host-capabilities <file>", "write what the policy asked of the host, and the answers")
    .option(
      "--replay-host-capabilities <file>",
      "answer the policy from such a file instead of a cluster or a registry",
    )
    .option("--batch", "instead, decide cases written down whole, JSON lines on standard input")
    .option("--cases <format>", "with --batch: how they are written", "validating-admission-policy");
  addCertificateRequestOptions(evaluate);
  withOptions(evaluate, LOADING_OPTIONS).action(async (id: string | undefined) => {
    const { batch, cases, explain } = evaluate.opts<{ batch?: true; cases: string; explain?: true }>();
    if (batch) {
      if (explain) throw new UsageError("--explain is about one answer, and not for --batch");
      const { evalBatchCommand } = await import("../../batch/eval-batch.js");
      return done(await evalBatchCommand({ cases }, io));
    }
    if (id === undefined) throw new UsageError("which policy? eval <policy>");
    const { evalCommand } = await import("../eval.js");
    const values = optionValues(evaluate, LOADING_OPTIONS, io.env);
    done(await evalCommand(id, evaluate.opts(), values, io));
  });
  withExamples(evaluate, [
    ["policy-server eval privileged-pods --object pod.yaml", "ask one policy about an object"],
    ["policy-server eval workloads --object pod.yaml --explain", "ask a group, and see why"],
    [
      "policy-server eval workloads/exempt --request review.json",
      "ask a member of a group about a recorded AdmissionReview",
    ],
  ]);
};
