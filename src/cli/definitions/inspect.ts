/** `inspect` on the command line. */
import { Option } from "commander";
import { type AddCommand, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import type { InspectOptions } from "../inspect/index.js";
import { settingsOf } from "../loader-settings.js";

/** Adds `inspect`. */
export const addInspect: AddCommand = (program, { io, done }) => {
  const inspect = program
    .command("inspect")
    .description(
      "say what a module, a file of policies or an entry of policies.yaml holds; exit 1 if it can't be loaded",
    )
    .argument("<what>", "a module or YAML file, a folder, the address of a module, or an id in policies.yaml")
    .addOption(new Option("-o, --output <format>", "how").choices(["text", "json", "yaml"]).default("text"))
    .option("--metadata", "only the metadata of a module, as its author wrote it")
    .option("--show-signatures", "of an artifact in a registry: who has signed it");
  withOptions(inspect, LOADING_OPTIONS).action(async (what: string) => {
    const { inspectCommand } = await import("../inspect/index.js");
    done(await inspectCommand(what, inspect.opts<InspectOptions>(), settingsOf(inspect, io), io));
  });
  withExamples(inspect, [
    ["policy-server inspect policy.wasm", "see what a module is, and whether it can be loaded"],
    ["policy-server inspect registry://ghcr.io/acme/policy:v1 --show-signatures", "look at one in a registry"],
    [
      "policy-server inspect policies/replica-limit.yaml",
      "see the documents of a file, and what they need of a cluster",
    ],
    ["policy-server inspect workloads", "see what an entry of policies.yaml is made of"],
    ["policy-server inspect policy.wasm --metadata -o yaml", "print the metadata of a Kubewarden policy"],
  ]);
};
