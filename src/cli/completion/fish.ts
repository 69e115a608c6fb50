import type { CommandLineShape, CompletedOption } from "./shape.js";

/** Completion for fish, to be sourced or put into ~/.config/fish/completions. */
export function fishCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
  const without = `not __fish_seen_subcommand_from ${commands.map((command) => command.name).join(" ")}`;
  const lines = [
    `# fish completion of ${name}: ${name} completion fish | source`,
    ...commands.map(
      (command) => `complete -c ${name} -f -n ${quote(without)} -a ${command.name} -d ${quote(command.description)}`,
    ),
    ...defaultOptions.map((option) => optionLine(name, without, option)),
    ...commands.flatMap((command) =>
      command.options.map((option) => optionLine(name, `__fish_seen_subcommand_from ${command.name}`, option)),
    ),
    ...commands
      .filter(({ below }) => below.length > 0)
      .map(({ name: command, below }) => {
        const when = `__fish_seen_subcommand_from ${command}; and not __fish_seen_subcommand_from ${below.join(" ")}`;
        return `complete -c ${name} -f -n ${quote(when)} -a ${quote(below.join(" "))}`;
      }),
    `complete -c ${name} -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'`,
  ];
  return `${lines.join("\n")}\n`;
}

function optionLine(name: string, when: string, option: CompletedOption): string {
  const { flag, description, takesValue, choices } = option;
  const values = choices.length > 0 ? ` -x -a ${quote(choices.join(" "))}` : takesValue ? " -r" : "";
  return `complete -c ${name} -n ${quote(when)} -l ${flag.replace(/^--/, "")}${values} -d ${quote(description)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
