/** `apply` on the command line. */
import { addApplyOptions } from "../apply/options.js";
import { type AddCommand, LOADING_OPTIONS, withExamples, withImageLayouts, withOptions } from "../definition.js";
import { heedKyvernoFlags } from "../kyverno-flags.js";
import { settingsOf } from "../loader-settings.js";

/** Adds `apply`. */
export const addApply: AddCommand = (program, { io, done }) => {
  const apply = program
    .command("apply")
    .description("apply policies to resources from files or a cluster, as Kyverno's apply does; exit 1 if one fails")
    .argument("[policies...]", "files and folders with policies, - for standard input, or ids with --policies");
  addApplyOptions(apply);
  withOptions(withImageLayouts(apply), LOADING_OPTIONS).allowExcessArguments(true);
  apply.action(async (policies: string[]) => {
    heedKyvernoFlags(apply, io);
    const { applyCommand } = await import("../apply/index.js");
    done(await applyCommand(policies, apply.opts(), settingsOf(apply, io), io));
  });
  withExamples(apply, [
    ["policy-server apply policies/ --resource pods.yaml", "apply the policies of a folder to resources of a file"],
    [
      "policy-server apply --policies policies.yaml workloads --resource manifests/",
      "apply a policy of policies.yaml, of any kind",
    ],
  ]);
};
