/** `convert` on the command line. */
import { Option } from "commander";
import type { ConvertOptions } from "../convert/index.js";
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `convert`. */
export const addConvert: AddCommand = (program, { io, done }) => {
  const convert = program
    .command("convert")
    .description("convert policies of Kyverno's first language and of Gatekeeper")
    .argument(
      "<file...>",
      "files and folders with ClusterPolicies, Policies and PolicyExceptions, or with ConstraintTemplates and Constraints; - for standard input",
    )
    .addOption(
      new Option(
        "--to <form>",
        "what they become: Kyverno's policies in CEL (kyverno), ValidatingAdmissionPolicies with bindings (vap), or entries of policies.yaml (cel); default: kyverno for Kyverno's, vap for Gatekeeper's in CEL",
      ).choices(["kyverno", "vap", "cel"]),
    )
    .option(
      "--output <folder>",
      "write files there: one for each policy, and policies.yaml for entries; default: standard output",
    )
    .option("--force", "replace files that are there")
    .allowExcessArguments(false);
  withExamples(convert, [
    ["policy-server convert cluster-policies/ --output converted", "write a file for each policy of Kyverno"],
    ["policy-server convert gatekeeper/ > vap.yaml", "print ValidatingAdmissionPolicies, to be applied or served"],
    ["policy-server convert gatekeeper/ --output converted", "write a file for each policy, and what Rego needs"],
    [
      "kubectl get constrainttemplates,constraints -o yaml | policy-server convert - --to cel",
      "print entries of policies.yaml for what a cluster has",
    ],
  ]);
  convert.action(async (files: readonly string[]) => {
    const { convertCommand } = await import("../convert/index.js");
    done(await convertCommand(files, convert.opts<ConvertOptions>(), io));
  });
};
