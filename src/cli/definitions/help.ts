/** `help` on the command line: commander's own is silent about an unknown command. */

import type { Command } from "commander";
import { UsageError } from "../../data/command-io.js";
import { didYouMean } from "../../data/suggest.js";
import type { AddCommand } from "../definition.js";

/** The message for an unknown command. */
export function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name());
  return `unknown command '${name}'${didYouMean(name, names) || ` (commands: ${names.join(", ")})`}`;
}

/** Adds `help`. */
export const addHelp: AddCommand = (program) => {
  program.helpCommand(false);
  program
    .command("help")
    .description("print the help of a command, with examples")
    .argument("[command]", "its name")
    .allowExcessArguments(false)
    .action((name: string | undefined) => {
      if (name === undefined) return program.help();
      const command = program.commands.find((each) => each.name() === name);
      if (command === undefined) throw new UsageError(unknownCommand(name, program));
      command.help();
    });
};
