import type { CommandLineShape, CompletedOption } from "./shape.js";

/** Completion for bash, from version 3.2 on, without the bash-completion package: to be sourced. */
export function bashCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
  const names = commands.map((command) => command.name);
  const arms = commands.map(({ name: command, options }) => `    ${command}) flags="${flagsOf(options)}" ;;`);
  // A flag means one thing for one command and another for the next.
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
