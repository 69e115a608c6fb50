/** The scripts of shells: each asks `completion words` what may stand at the cursor. A line `:files` or `:folders` of its answer stands for such paths. */

const bash = (name: string, own: string): string => `# bash completion of ${name}: source <(${name} completion bash)
${own}() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]}" word rest
  COMPREPLY=()
  # bash splits --flag=value into three words.
  if [[ "$current" == "=" ]]; then current=""; fi
  while IFS=$'\\t' read -r word rest; do
    case "$word" in
    :files) COMPREPLY+=($(compgen -f -- "$current")) ;;
    :folders) COMPREPLY+=($(compgen -d -- "$current")) ;;
    *) COMPREPLY+=("$word") ;;
    esac
  done < <("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o filenames -F ${own} ${name}
`;

const zsh = (name: string, own: string): string => `#compdef ${name}
# zsh completion of ${name}: source <(${name} completion zsh), behind compinit; or a file in a folder of fpath
${own}() {
  local line paths=""
  local -a found
  for line in \${(f)"$(\${words[1]} completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    case "$line" in
    :files) paths="_files" ;;
    :folders) paths="_files -/" ;;
    *) found+=("\${\${line//:/\\\\:}/$'\\t'/:}") ;;
    esac
  done
  if (( $#found )); then _describe ${name} found; fi
  if [[ -n "$paths" ]]; then compset -P '--*='; \${(z)paths}; fi
}
if [[ "$funcstack[1]" == "${own}" ]]; then ${own} "$@"; else compdef ${own} ${name}; fi
`;

const fish = (name: string, own: string): string => `# fish completion of ${name}: ${name} completion fish | source
function ${own}
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l path (string replace -r -- '^--[^=]*=' '' "$current")
    for line in ($before[1] completion words -- $before[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$path"
            case :folders
                __fish_complete_directories "$path"
            case '*'
                echo $line
        end
    end
end
complete -c ${name} -f -a '(${own})'
`;

const SCRIPTS = { bash, zsh, fish } as const;

/** Supported shells. */
export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

/** The script for a shell; undefined for an unsupported one. */
export function completionScript(shell: string, name: string): string | undefined {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as keyof typeof SCRIPTS] : undefined;
  return script?.(name, `_${name.replaceAll("-", "_")}`);
}
