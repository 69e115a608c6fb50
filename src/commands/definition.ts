/** How a command adds itself to the command line: `definitions/` has a file for each, and the rest of it is imported when it runs. */
import type { Command } from "commander";
import type { CommandIo } from "./io.js";
import { KUBERNETES_OPTION, type OptionDefinition, SERVE_OPTIONS } from "./option-definitions.js";
import { addOption } from "./options.js";

/** What a definition gets. */
export interface CommandContext {
  readonly io: CommandIo;
  /** Told the exit code when the command has ended. */
  readonly done: (exitCode: number) => void;
}

/** Adds a command to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void;

/** What commands that load policies share with `serve`. */
export const LOADING_OPTIONS: readonly OptionDefinition[] = [
  ...SERVE_OPTIONS.filter(({ flag }) =>
    [
      "policies",
      "policy-timeout",
      "disable-timeout-protection",
      "workers",
      "policies-download-dir",
      "sources-path",
      "verification-path",
      "docker-config-json-path",
      "sigstore-cache-dir",
      "sigstore-trust-config",
      "kubeconfig",
      "http-blocklist",
      "http-allowlist",
      "allow-http-in-namespaced-policies",
    ].includes(flag),
  ),
  KUBERNETES_OPTION,
];

/** Adds options; a command that takes no more arguments than it names is refused others. */
export function withOptions(command: Command, definitions: readonly OptionDefinition[]): Command {
  for (const definition of definitions) addOption(command, definition);
  return command.allowExcessArguments(false);
}

/** Examples below the help: what to type, and what that does. */
export function withExamples(
  command: Command,
  examples: readonly (readonly [typed: string, meaning: string])[],
): Command {
  const width = Math.max(...examples.map(([typed]) => typed.length));
  const lines = examples.map(([typed, meaning]) => `  ${typed.padEnd(width)}  ${meaning}`);
  return command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}
