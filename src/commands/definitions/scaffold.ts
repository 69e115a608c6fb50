/** `scaffold` on the command line. */
import type { Command } from "commander";
import { type AddCommand, type CommandContext, withExamples } from "../definition.js";
import type { ScaffoldKind, ScaffoldOptions } from "../scaffold/index.js";

/** Adds it. */
export const addScaffold: AddCommand = (program, context) => {
  const scaffold = program
    .command("scaffold")
    .description("make a policy of a kind with its test file; what is made passes check and test at once");
  withExamples(scaffold, [
    ["policy-server scaffold cel need-team", "an inline CEL policy"],
    ["policy-server scaffold vap few-replicas --param", "a ValidatingAdmissionPolicy with a parameter"],
    ["policy-server scaffold group both --members need-team,few-replicas", "a group of policies that are there"],
    ["policy-server scaffold wasm my-policy", "a folder with a policy in AssemblyScript"],
    ["policy-server scaffold from-module ./policy.wasm --manifest", "a ClusterAdmissionPolicy for a module"],
  ]);
  add(scaffold, "cel", "a CEL policy in policies.yaml", context);
  add(scaffold, "vap", "a ValidatingAdmissionPolicy with its binding", context).option(
    "--param",
    "with a parameter, a ConfigMap",
  );
  add(scaffold, "kyverno", "a ValidatingPolicy of Kyverno", context);
  add(scaffold, "group", "a group of policies of policies.yaml", context).option(
    "--members <ids>",
    "comma-separated ids of policies",
  );
  add(scaffold, "wasm", "a folder with a WASM policy in AssemblyScript that npm builds and tests", context);
  add(scaffold, "from-module", "an entry of policies.yaml for a WASM module, by its metadata", context)
    .option("--name <name>", "what to call the policy; default: as the module calls itself")
    .option("--manifest", "print a ClusterAdmissionPolicy instead");
};

function add(scaffold: Command, kind: ScaffoldKind, description: string, { io, done }: CommandContext): Command {
  const target = kind === "from-module" ? "<file>" : "<name>";
  const command = scaffold
    .command(kind)
    .description(description)
    .argument(target, kind === "from-module" ? "the module" : "a to z, digits and -")
    .option("--folder <folder>", "where to make it", ".")
    .option("--force", "replace files that are there")
    .option("--dry-run", "print what would be made")
    .allowExcessArguments(false);
  return command.action(async (written: string) => {
    const { scaffoldCommand } = await import("../scaffold/index.js");
    done(await scaffoldCommand(kind, written, command.opts<ScaffoldOptions>(), io));
  });
}
