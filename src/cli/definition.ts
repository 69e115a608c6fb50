/** Adds commands to the command line: `definitions/` has a file for each, whose code is imported when it runs. */
import type { Command, Option } from "commander";
import { type CommandIo, say } from "../data/command-io.js";
import { painted } from "./look/paint.js";
import type { OptionDefinition } from "./option-definition.js";
import { SERVE_OPTIONS } from "./option-definitions.js";
import { addOption } from "./options.js";

/** The context of a definition. */
export interface CommandContext {
  readonly io: CommandIo;
  /** Receives the exit code when the command has ended. */
  readonly done: (exitCode: number) => void;
  /** The program with all commands, while the present one may have only some. */
  readonly whole: () => Command;
}

/** Adds a command to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void;

/** Options that commands which load policies share with `serve`. */
export const LOADING_OPTIONS: readonly OptionDefinition[] = [
  ...SERVE_OPTIONS.filter(({ flag }) =>
    [
      "policies",
      "policy-timeout",
      "disable-timeout-protection",
      "cel-cost-factor",
      "kubernetes-version",
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

/** The heading of what many commands have in common, behind a command's own options. */
const LOADING_HEADING = "Options for loading policies:";

/** The options of a command in the order of its help: its own, and then those for loading policies. */
export function sortOptions({ options }: Command): void {
  const isShared = (option: Option): number => Number(option.helpGroupHeading === LOADING_HEADING);
  (options as Option[]).sort((a, b) => isShared(a) - isShared(b));
}

/** Adds options; further arguments than the named ones are refused. */
export function withOptions(command: Command, definitions: readonly OptionDefinition[]): Command {
  const isServe = definitions === SERVE_OPTIONS;
  for (const definition of definitions) {
    const option = addOption(command, definition);
    if (!isServe && LOADING_OPTIONS.includes(definition)) option.helpGroup(LOADING_HEADING);
  }
  return command.allowExcessArguments(false);
}

/** The path of --destination; where that was written as -o, which is the format everywhere else, with a warning: the next version will not take it. */
export function destinationOf(
  { destination, output }: { readonly destination?: string | undefined; readonly output?: string | undefined },
  old: string,
  io: CommandIo,
): string | undefined {
  if (output === undefined) return destination;
  say(
    io.stderr,
    `warning: write -d, --destination in place of -o, ${old}, which the next version will not take as a path`,
  );
  return destination ?? output;
}

/** A command line to type, with its meaning. */
export type Example = readonly [typed: string, meaning: string];

const EXAMPLES = Symbol("examples");

/** Adds examples below the help: each with its meaning and its command line. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  Object.assign(command, { [EXAMPLES]: examples });
  const lines = examples.map(([typed, meaning]) => `  ${painted("quiet", `# ${meaning}`)}\n  ${typed}`);
  return command.addHelpText("after", `\n${painted("strong", "Examples:")}\n${lines.join("\n")}`);
}

/** The examples of a command. */
export function examplesOf(command: Command): readonly Example[] {
  return (command as { [EXAMPLES]?: readonly Example[] })[EXAMPLES] ?? [];
}

/** Adds the folders that stand in for registries of images. */
export const withImageLayouts = (command: Command): Command =>
  command.option(
    "--image-layout <folder>",
    "image layout (OCI) in place of all registries of images, as often as wanted; NAME=FOLDER: its images without a repository have this one",
    collected,
  );

/** Collects repeated values. Not `<id...>`: that would take the files behind it, too. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
