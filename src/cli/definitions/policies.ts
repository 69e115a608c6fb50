/** `policies` and `rm` on the command line: modules in the download folder. */
import { Option } from "commander";
import { type AddCommand, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";
import { DOWNLOAD_OPTIONS } from "../modules/options.js";

/** Adds `policies`. */
export const addPolicies: AddCommand = (program, { io, done }) => {
  const policies = program
    .command("policies")
    .description("list the modules in the download folder")
    .addOption(new Option("-o, --output <format>", "what is printed").choices(["text", "json"]).default("text"));
  withOptions(policies, DOWNLOAD_OPTIONS).action(async () => {
    const { policiesCommand } = await import("../modules/kept-modules.js");
    const { downloadDirectory = "." } = settingsOf(policies, io, DOWNLOAD_OPTIONS);
    done(await policiesCommand(policies.opts<{ output: "text" | "json" }>().output, downloadDirectory, io));
  });
  withExamples(policies, [["policy-server policies --policies-download-dir /tmp", "see what was downloaded there"]]);
};

/** Adds `rm`. */
export const addRm: AddCommand = (program, { io, done }) => {
  const rm = program
    .command("rm")
    .description("remove a module from the download folder")
    .argument("<address>", "as policies lists it");
  withOptions(rm, DOWNLOAD_OPTIONS).action(async (address: string) => {
    const { rmCommand } = await import("../modules/kept-modules.js");
    const { downloadDirectory = "." } = settingsOf(rm, io, DOWNLOAD_OPTIONS);
    done(await rmCommand(address, downloadDirectory, io));
  });
  withExamples(rm, [
    ["policy-server rm registry://ghcr.io/acme/policy:v1", "have it downloaded again when it is needed"],
  ]);
};
