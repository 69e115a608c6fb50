import type { Command } from "commander";
import { didYouMean } from "../../data/suggest.js";

/** What is said of a command that there isn't. */
export function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name());
  return `unknown command '${name}'${didYouMean(name, names) || ` (commands: ${names.join(", ")})`}`;
}
