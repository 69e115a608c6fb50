/** `scaffold` on the command line. */
import { Argument } from "commander";
import { type AddCommand, withExamples } from "../definition.js";
import type { ScaffoldKind, ScaffoldOptions } from "../scaffold/index.js";

/** Kinds of scaffolds, in the order of the help. */
const KINDS: readonly ScaffoldKind[] = ["cel", "vap", "kyverno", "group", "wasm", "from-module", "review"];

/** Adds `scaffold`. */
export const addScaffold: AddCommand = (program, { io, done }) => {
  const scaffold = program
    .command("scaffold")
    .description("make a policy of a kind with its test file; what is made passes check and test at once")
    .addArgument(new Argument("<kind>", "what to make").choices(KINDS))
    .argument(
      "<name>",
      "what to call it: a to z, digits and -; for from-module the module's file, for review the object's",
    )
    .option("--folder <folder>", "where to make it", ".")
    .option("--force", "replace files that are there")
    .option("--dry-run", "print what would be made")
    .option("--param", "of vap: with a parameter, a ConfigMap")
    .option("--members <ids>", "of group: comma-separated ids of policies of policies.yaml")
    .option("--name <name>", "of from-module: what to call the policy; default: as the module calls itself")
    .option("--manifest", "of from-module: print a ClusterAdmissionPolicy instead")
    .option("--operation <name>", "of review: CREATE, UPDATE, DELETE or CONNECT")
    .option("--old <file>", "of review: the object's former state")
    .option("--namespace <name>", "of review: the request's namespace; default: the object's")
    .allowExcessArguments(false);
  withExamples(scaffold, [
    ["policy-server scaffold cel need-team", "an inline CEL policy"],
    ["policy-server scaffold vap few-replicas --param", "a ValidatingAdmissionPolicy with a parameter"],
    ["policy-server scaffold group both --members need-team,few-replicas", "a group of policies that are there"],
    ["policy-server scaffold wasm my-policy", "a folder with a policy in AssemblyScript"],
    ["policy-server scaffold from-module ./policy.wasm --manifest", "a ClusterAdmissionPolicy for a module"],
    ["policy-server scaffold review pod.yaml > review.json", "an AdmissionReview, to send with curl"],
  ]);
  scaffold.action(async (kind: ScaffoldKind, name: string) => {
    const { scaffoldCommand } = await import("../scaffold/index.js");
    done(await scaffoldCommand(kind, name, scaffold.opts<ScaffoldOptions>(), io));
  });
};
