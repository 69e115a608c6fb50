import type { CommandLineShape, CompletedOption, CompletedValue } from "./shape.js";

/** Completion for zsh, to be sourced after compinit or put into a folder of fpath. */
export function zshCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
  const described = commands.map((command) => `    ${quote(`${command.name}:${command.description}`)}`);
  const own = `_${name.replaceAll("-", "_")}`;
  const arms = commands.map(({ name: command, options, first, rest }) => {
    const places = `${quote(`1:${command}:${actionOf(own, first)}`)} ${quote(`*:${command}:${actionOf(own, rest)}`)}`;
    return `    ${command}) _arguments -s ${specs(own, options)} ${places} ;;`;
  });
  return `#compdef ${name}
# zsh completion of ${name}: source <(${name} completion zsh)
${own}_policies() {
  local at=\${words[(I)--policies]} file=""
  if (( at )); then file="\${words[at + 1]}"; else file="\${\${words[(R)--policies=*]}#--policies=}"; fi
  compadd -- \${(f)"$(${name} completion policies \${file:+"$file"} 2>/dev/null)"}
}
${own}_policies_or_files() {
  ${own}_policies
  _files
}
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
    *) _arguments -s ${specs(own, defaultOptions)} ;;
  esac
}
if [[ "$funcstack[1]" == "${own}" ]]; then ${own} "$@"; else compdef ${own} ${name}; fi
`;
}

/** The action of a value, in the words of zsh's _arguments; a blank completes nothing. */
function actionOf(own: string, { words, paths, policies }: CompletedValue): string {
  if (policies) return paths ? `${own}_policies_or_files` : `${own}_policies`;
  if (words.length > 0) return `(${words.join(" ")})`;
  return paths === "files" ? "_files" : paths === "folders" ? "_files -/" : " ";
}

function specs(own: string, options: readonly CompletedOption[]): string {
  return options
    .flatMap(({ flag, letter, description, value }) => {
      const text = `[${description.replaceAll(/[[\]:]/g, "\\$&")}]`;
      const behind = value === undefined ? "" : `:value:${actionOf(own, value)}`;
      return [
        `${flag}${value === undefined ? "" : "="}${text}${behind}`,
        ...(letter === undefined ? [] : [`${letter}${text}${behind}`]),
      ];
    })
    .map(quote)
    .join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
