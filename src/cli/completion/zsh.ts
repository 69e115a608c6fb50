import type { CommandLineShape, CompletedOption } from "./shape.js";

/** Completion for zsh, to be sourced after compinit or put into a folder of fpath. */
export function zshCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
  const described = commands.map((command) => `    ${quote(`${command.name}:${command.description}`)}`);
  const arms = commands.map(
    ({ name: command, options, below }) => `    ${command}) _arguments -s ${specs(options)} ${rest(command, below)} ;;`,
  );
  const own = `_${name.replaceAll("-", "_")}`;
  return `#compdef ${name}
# zsh completion of ${name}: source <(${name} completion zsh)
${own}() {
  local -a commands
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )) && [[ "$words[2]" != -* ]]; then
    _describe command commands
    return
  fi
  local command="$words[2]"
  if (( \${commands[(I)$command:*]} )); then
    shift words
    (( CURRENT-- ))
  else
    command=""
  fi
  case "$command" in
${arms.join("\n")}
    *) _arguments -s ${specs(defaultOptions)} ;;
  esac
}
if [[ "$funcstack[1]" == "${own}" ]]; then ${own} "$@"; else compdef ${own} ${name}; fi
`;
}

function rest(command: string, below: readonly string[]): string {
  if (below.length > 0) return `'1:kind:(${below.join(" ")})' '*:file:_files'`;
  return command === "completion" ? "'1:shell:(bash zsh fish)'" : "'*:file:_files'";
}

function specs(options: readonly CompletedOption[]): string {
  return options
    .map(({ flag, description, takesValue, choices }) => {
      const text = `${flag}${takesValue ? "=" : ""}[${description.replaceAll(/[[\]]/g, "\\$&")}]`;
      const values = choices.length > 0 ? `(${choices.join(" ")})` : "_files";
      return quote(takesValue ? `${text}:value:${values}` : text);
    })
    .join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
