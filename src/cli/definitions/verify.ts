/** `verify` on the command line. */
import { Option } from "commander";
import { type AddCommand, withExamples, withOptions } from "../definition.js";
import { addVerificationFlags, REGISTRY_OPTIONS, VERIFICATION_OPTIONS, verifyingSettings } from "../modules/options.js";
import type { VerifyOptions } from "../modules/verify.js";

const OPTIONS = [...VERIFICATION_OPTIONS, ...REGISTRY_OPTIONS];

/** Adds `verify`. */
export const addVerify: AddCommand = (program, { io, done }) => {
  const verify = program
    .command("verify")
    .description("say whether modules have the signatures that are wanted, and whose; exit 1 if not")
    .argument(
      "<address>",
      "the address of an artifact in a registry, or a policies file: all that it takes from registries",
    )
    .addOption(new Option("-o, --output <format>", "what is printed").choices(["text", "json"]).default("text"));
  addVerificationFlags(verify);
  withOptions(verify, OPTIONS).action(async (what: string) => {
    const { verifyCommand } = await import("../modules/verify.js");
    done(await verifyCommand(what, verify.opts<VerifyOptions>(), verifyingSettings(verify, io, OPTIONS), io));
  });
  withExamples(verify, [
    [
      "policy-server verify registry://ghcr.io/acme/policy:v1 --verification-path verification.yml",
      "verify a module as the server would",
    ],
    [
      "policy-server verify policies.yaml --verification-path verification.yml",
      "verify all modules of a policies file",
    ],
    [
      "policy-server verify ghcr.io/acme/policy:v1 -k cosign.pub -a env=prod",
      "verify a key and what the signature says",
    ],
    [
      "policy-server verify ghcr.io/acme/policy:v1 --github-owner acme",
      "verify that a workflow of that owner has signed",
    ],
  ]);
};
