/** `completion <shell>`: a script that completes commands, flags and their values. */
import type { CommandLineShape, CompletedOption } from "./shape.js";
import { zshCompletion } from "./zsh.js";

/** Completion for bash, from version 3.2 on, without the bash-completion package; the script is to be sourced. */
function bashCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
  const names = commands.map((command) => command.name);
  const arms = commands.map(({ name: command, options }) => `    ${command}) flags="${flagsOf(options)}" ;;`);
  // The same flag may have another meaning for another command.
  const all = [{ name: "", options: defaultOptions }, ...commands];
  const taking = all.flatMap(({ name: command, options }) =>
    options.filter(({ takesValue }) => takesValue).map((option) => ({ command, ...option })),
  );
  const values = taking.map(({ command, flag, choices }) => {
    const found =
      choices.length > 0 ? `words="${choices.join(" ")}"` : `COMPREPLY=($(compgen -f -- "$current")); return`;
    return `    "${command} ${flag}") ${found} ;;`;
  });
  const below = commands
    .filter((command) => command.below.length > 0)
    .map(
      (command) =>
        `  elif [[ "$previous" == "${command.name}" ]]; then COMPREPLY=($(compgen -W "${command.below.join(" ")}" -- "$current"))\n`,
    );
  return `# bash completion of ${name}: source <(${name} completion bash)
_${functionName(name)}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" flags words="" word
  # bash splits --flag=value into three words.
  if [[ "$current" == "=" ]]; then current=""; elif [[ "$previous" == "=" ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in ${names.join("|")}) command="$word"; break ;; esac
  done
  case "$command $previous" in
${values.join("\n")}
  esac
  if [[ -n "$words" ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); return; fi
  case "$command" in
${arms.join("\n")}
    *) flags="${flagsOf(defaultOptions)}" ;;
  esac
  if [[ "$current" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ "$command" == "completion" ]]; then COMPREPLY=($(compgen -W "bash zsh fish" -- "$current"))
${below.join("")}  elif [[ -z "$command" || "$command" == "help" ]]; then COMPREPLY=($(compgen -W "${names.join(" ")}" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _${functionName(name)} ${name}
`;
}

function flagsOf(options: readonly CompletedOption[]): string {
  return options.map(({ flag }) => flag).join(" ");
}

function functionName(name: string): string {
  return name.replaceAll("-", "_");
}

/** Completion for fish, to be sourced or put into ~/.config/fish/completions. */
function fishCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
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

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** Supported shells. */
export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

/** A supported shell. */
export type Shell = keyof typeof SCRIPTS;

/** The script for a shell; undefined for an unsupported one. */
export function completionScript(shell: string, shape: CommandLineShape): string | undefined {
  return Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as Shell](shape) : undefined;
}
