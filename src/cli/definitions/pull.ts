/** `pull` on the command line. */
import { Option } from "commander";
import { type AddCommand, destinationOf, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";
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
    .description(
      "download a module to where the server looks for it, or to a file, or an image with its signatures, and print the path",
    )
    .argument("<address>", "its address, such as registry://ghcr.io/acme/policy:v1 or https://…")
    .option("-d, --destination <path>", "a file or folder in place of the download folder")
    .option(
      "--with-signatures",
      "instead, copy an image, and all that refers to it, without its layers, into the image layout (OCI) in this folder, for --image-layout",
    )
    .addOption(new Option("-o, --output-path <path>", "as --destination").hideHelp());
  addVerificationFlags(pull);
  withOptions(pull, OPTIONS).action(async (address: string) => {
    type Values = PullOptions & { readonly outputPath?: string; readonly withSignatures?: true };
    const { outputPath, withSignatures, ...options } = pull.opts<Values>();
    const destination = destinationOf({ output: outputPath, ...options }, "--output-path", io);
    if (withSignatures) {
      const { pullImageCommand } = await import("../modules/pull-image.js");
      return done(
        await pullImageCommand(address, { ...options, destination }, settingsOf(pull, io, REGISTRY_OPTIONS), io),
      );
    }
    const { pullCommand } = await import("../modules/pull.js");
    done(await pullCommand(address, { ...options, destination }, verifyingSettings(pull, io, OPTIONS), io));
  });
  withExamples(pull, [
    ["policy-server pull registry://ghcr.io/acme/policy:v1 -d policy.wasm", "download a module into a file"],
    [
      "policy-server pull ghcr.io/acme/policy:v1 --verification-path verification.yml",
      "download it for the server, when it is signed as wanted",
    ],
    [
      "policy-server pull --with-signatures ghcr.io/acme/app:v1 -d layout",
      "copy an image and its signatures, to judge it without a network",
    ],
  ]);
};
