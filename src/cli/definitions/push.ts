/** `push` on the command line. */
import { Option } from "commander";
import { type AddCommand, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";
import { REGISTRY_OPTIONS } from "../modules/options.js";
import type { PushOptions } from "../modules/push.js";

/** Adds `push`. */
export const addPush: AddCommand = (program, { io, done }) => {
  const push = program
    .command("push")
    .description("upload a module into a registry, and print its name with its digest")
    .argument("<file>", "the module")
    .argument("<address>", "where to, such as registry://ghcr.io/acme/policy:v1")
    .option("-f, --force", "also a module whose metadata is broken")
    .addOption(new Option("-o, --output <format>", "what is printed").choices(["text", "json"]).default("text"));
  withOptions(push, REGISTRY_OPTIONS).action(async (file: string, address: string) => {
    const { pushCommand } = await import("../modules/push.js");
    done(await pushCommand(file, address, push.opts<PushOptions>(), settingsOf(push, io, REGISTRY_OPTIONS), io));
  });
  withExamples(push, [
    [
      "policy-server push policy.wasm registry://ghcr.io/acme/policy:v1",
      "upload a module (log in first: docker login ghcr.io)",
    ],
    [
      "policy-server push policy.wasm localhost:5000/policy:dev --sources-path sources.yml",
      "upload it into a registry without TLS, which sources.yml lists",
    ],
  ]);
};
