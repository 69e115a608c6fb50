/** `pull` on the command line. */
import { Option } from "commander";
import { type AddCommand, destinationOf, withExamples, withOptions } from "../definition.js";
import {
  addVerificationFlags,
  DOWNLOAD_OPTIONS,
  REGISTRY_OPTIONS,
  VERIFICATION_OPTIONS,
  verifyingSettings,
} from "../modules/options.js";
import type { PullOptions } from "../modules/pull.js";

const OPTIONS = [...DOWNLOAD_OPTIONS, ...REGISTRY_OPTIONS, ...VERIFICATION_OPTIONS];

/** Adds `pull`. */
export const addPull: AddCommand = (program, { io, done }) => {
  const pull = program
    .command("pull")
    .description("download a module to where the server looks for it, or to a file, and print the path")
    .argument("<address>", "its address, such as registry://ghcr.io/acme/policy:v1 or https://…")
    .option("-d, --destination <path>", "a file or folder in place of the download folder")
    .addOption(new Option("-o, --output-path <path>", "as --destination").hideHelp());
  addVerificationFlags(pull);
  withOptions(pull, OPTIONS).action(async (address: string) => {
    const { pullCommand } = await import("../modules/pull.js");
    const { outputPath, ...options } = pull.opts<PullOptions & { readonly outputPath?: string }>();
    const destination = destinationOf({ output: outputPath, ...options }, "--output-path", io);
    done(await pullCommand(address, { ...options, destination }, verifyingSettings(pull, io, OPTIONS), io));
  });
  withExamples(pull, [
    ["policy-server pull registry://ghcr.io/acme/policy:v1 -d policy.wasm", "download a module into a file"],
    [
      "policy-server pull ghcr.io/acme/policy:v1 --verification-path verification.yml",
      "download it for the server, when it is signed as wanted",
    ],
  ]);
};
