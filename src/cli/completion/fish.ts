import type { CommandLineShape, CompletedOption, CompletedValue } from "./shape.js";

/** Completion for fish, to be sourced or put into ~/.config/fish/completions. */
export function fishCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
  const own = `__${name.replaceAll("-", "_")}`;
  const without = `not __fish_seen_subcommand_from ${commands.map((command) => command.name).join(" ")}`;
  const lines = [
    `# fish completion of ${name}: ${name} completion fish | source`,
    `function ${own}_policies`,
    "    set -l words (string replace -r -- '^--policies=' '--policies\\n' (commandline -opc) | string split '\\n')",
    "    set -l at (contains -i -- --policies $words)",
    `    and ${name} completion policies $words[(math $at + 1)] 2>/dev/null`,
    `    or ${name} completion policies 2>/dev/null`,
    "end",
    ...commands.map(
      (command) => `complete -c ${name} -f -n ${quote(without)} -a ${command.name} -d ${quote(command.description)}`,
    ),
    ...defaultOptions.map((option) => optionLine(name, own, without, option)),
    ...commands.flatMap((command) => {
      const seen = `__fish_seen_subcommand_from ${command.name}`;
      return [
        ...command.options.map((option) => optionLine(name, own, seen, option)),
        ...argumentLines(name, own, command.name, command),
      ];
    }),
  ];
  return `${lines.join("\n")}\n`;
}

function argumentLines(
  name: string,
  own: string,
  command: string,
  { first, rest }: { readonly first: CompletedValue; readonly rest: CompletedValue },
): readonly string[] {
  const seen = `__fish_seen_subcommand_from ${command}`;
  const others = first.words.filter((word) => word !== command);
  const isFirst = others.length === 0 ? seen : `${seen}; and not __fish_seen_subcommand_from ${others.join(" ")}`;
  const line = (value: CompletedValue, when: string): readonly string[] => {
    const words = wordsOf(own, value);
    if (words === "" && value.paths) return [];
    const start = `complete -c ${name}${value.paths ? "" : " -f"} -n ${quote(when)}`;
    return [words === "" ? start : `${start} -a ${quote(words)}`];
  };
  return [...line(first, isFirst), ...(first === rest ? [] : line(rest, `${seen}; and not begin; ${isFirst}; end`))];
}

const wordsOf = (own: string, { words, policies }: CompletedValue): string =>
  [...words, ...(policies ? [`(${own}_policies)`] : [])].join(" ");

function optionLine(
  name: string,
  own: string,
  when: string,
  { flag, letter, description, value }: CompletedOption,
): string {
  const short = letter === undefined ? "" : ` -s ${letter.slice(1)}`;
  const start = `complete -c ${name} -n ${quote(when)} -l ${flag.replace(/^--/, "")}${short}`;
  return `${start}${value === undefined ? "" : valuesOf(own, value)} -d ${quote(description)}`;
}

function valuesOf(own: string, value: CompletedValue): string {
  if (value.paths === "files") return " -r -F";
  if (value.paths === "folders") return " -x -a '(__fish_complete_directories)'";
  const words = wordsOf(own, value);
  return words === "" ? " -x" : ` -x -a ${quote(words)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
