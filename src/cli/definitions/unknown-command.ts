import type { Command } from "commander";
import { didYouMean } from "../../data/suggest.js";

/** The message for an unknown command. */
export function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name());
  return `unknown command '${name}'${didYouMean(name, names) || ` (commands: ${names.join(", ")})`}`;
}
