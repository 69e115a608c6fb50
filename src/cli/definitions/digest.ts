/** `digest` on the command line. */
import { type AddCommand, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";
import { REGISTRY_OPTIONS } from "../modules/options.js";

/** Adds `digest`. */
export const addDigest: AddCommand = (program, { io, done }) => {
  const digest = program
    .command("digest")
    .description("print the name of an artifact in a registry with its digest, which never stands for another one")
    .argument("<address>", "its address, such as registry://ghcr.io/acme/policy:v1");
  withOptions(digest, REGISTRY_OPTIONS).action(async (address: string) => {
    const { digestCommand } = await import("../modules/digest.js");
    done(await digestCommand(address, settingsOf(digest, io, REGISTRY_OPTIONS), io));
  });
  withExamples(digest, [
    ["policy-server digest registry://ghcr.io/acme/policy:v1", "see what the tag stands for now"],
    ["cosign sign --key cosign.key $(policy-server digest ghcr.io/acme/policy:v1)", "sign just that"],
  ]);
};
