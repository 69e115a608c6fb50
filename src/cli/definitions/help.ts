/** `help` on the command line: commander's own is silent about an unknown command. */
import { UsageError } from "../../data/command-io.js";
import type { AddCommand } from "../definition.js";
import { unknownCommand } from "../unknown-words.js";

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
