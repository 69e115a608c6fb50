/** How a command adds itself to the command line: `definitions/` has a file for each, and the rest of it is imported when it runs. */
import type { Command } from "commander";
import type { CommandIo } from "../data/command-io.js";
import { painted } from "./look/paint.js";
import { type OptionDefinition, SERVE_OPTIONS } from "./option-definitions.js";
import { addOption } from "./options.js";

/** What a definition gets. */
export interface CommandContext {
  readonly io: CommandIo;
  /** Told the exit code when the command has ended. */
  readonly done: (exitCode: number) => void;
  /** The program with all commands, which the one that this command is added to need not have. */
  readonly whole: () => Command;
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
      "cel-cost-factor",
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
  {
    flag: "kubernetes",
    env: "KUBEWARDEN_KUBERNETES",
    kind: "flag",
    default: false,
    description: "look up Kubernetes objects and permissions in the cluster of the kubeconfig, as serve does",
  },
];

/** Adds options; a command that takes no more arguments than it names is refused others. */
export function withOptions(command: Command, definitions: readonly OptionDefinition[]): Command {
  for (const definition of definitions) addOption(command, definition);
  return command.allowExcessArguments(false);
}

/** A command line to type, and what it does. */
export type Example = readonly [typed: string, meaning: string];

const EXAMPLES = Symbol("examples");

/** Examples below the help: what each does, and what to type. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  Object.assign(command, { [EXAMPLES]: examples });
  const lines = examples.map(([typed, meaning]) => `  ${painted("quiet", `# ${meaning}`)}\n  ${typed}`);
  return command.addHelpText("after", `\n${painted("strong", "Examples:")}\n${lines.join("\n")}`);
}

/** The examples that a command was given. */
export function examplesOf(command: Command): readonly Example[] {
  return (command as { [EXAMPLES]?: readonly Example[] })[EXAMPLES] ?? [];
}
