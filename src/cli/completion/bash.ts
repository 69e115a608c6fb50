import type { CommandLineShape, CompletedOption, CompletedValue } from "./shape.js";

/** Completion for bash, from version 3.2 on, without the bash-completion package; the script is to be sourced. */
export function bashCompletion({ name, commands, defaultOptions }: CommandLineShape): string {
  const own = `_${name.replaceAll("-", "_")}`;
  const names = commands.map((command) => command.name);
  // The same flag may have another meaning for another command.
  const all = [{ name: "", options: defaultOptions }, ...commands];
  const values = all.flatMap(({ name: command, options }) =>
    options.flatMap(({ flag, letter, value }) =>
      value === undefined
        ? []
        : [
            `    ${[flag, letter]
              .filter(Boolean)
              .map((each) => `"${command} ${each}"`)
              .join("|")}) ${assigned(value)} ;;`,
          ],
    ),
  );
  const flags = commands.map(({ name: command, options }) => `    ${command}) flags="${flagsOf(options)}" ;;`);
  const places = commands.flatMap(({ name: command, first, rest }) => [
    `    "${command} 0") ${assigned(first)} ;;`,
    `    "${command} "[1-9]*) ${assigned(rest)} ;;`,
  ]);
  return `# bash completion of ${name}: source <(${name} completion bash)
# Sets what may stand behind an option of a command, "command --option"; fails for one without a value.
${own}_value() {
  case "$1" in
${values.join("\n")}
    *) return 1 ;;
  esac
}
${own}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="" command="" flags="" words="" paths="" ids="" file="" word at=0
  # bash splits --flag=value into three words.
  if [[ "$current" == "=" ]]; then current=""; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ "$word" == "=" ]]; then continue; fi
    if [[ "$previous" == "--policies" ]]; then file="$word"; fi
    if [[ "$word" == -* ]] || ${own}_value "$command $previous"; then :
    elif [[ -n "$command" ]]; then at=$((at + 1))
    else case "$word" in ${names.join("|")}) command="$word" ;; esac; fi
    previous="$word"
  done
  words="" paths="" ids=""
  if ! ${own}_value "$command $previous"; then
    case "$command" in
${flags.join("\n")}
    *) flags="${flagsOf(defaultOptions)}" ;;
    esac
    if [[ "$current" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current")); return; fi
    case "$command $at" in
${places.join("\n")}
    *) words="${names.join(" ")}" ;;
    esac
  fi
  if [[ -n "$ids" ]]; then words="$words $("\${COMP_WORDS[0]}" completion policies \${file:+"$file"} 2>/dev/null)"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  local IFS=$'\\n'
  if [[ "$paths" == files ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi
  if [[ "$paths" == folders ]]; then COMPREPLY+=($(compgen -d -- "$current")); fi
}
complete -o filenames -F ${own} ${name}
`;
}

const assigned = ({ words, paths, policies }: CompletedValue): string =>
  `words="${words.join(" ")}" paths="${paths || ""}" ids="${policies ? "yes" : ""}"`;

function flagsOf(options: readonly CompletedOption[]): string {
  return options.map(({ flag }) => flag).join(" ");
}
