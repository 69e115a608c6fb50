/** `completion <shell>`: a script that completes commands, flags and their values. */
import { bashCompletion } from "./bash.js";
import { fishCompletion } from "./fish.js";
import type { CommandLineShape } from "./shape.js";
import { zshCompletion } from "./zsh.js";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** Shells that there is a script for. */
export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

/** A shell that there is a script for. */
export type Shell = keyof typeof SCRIPTS;

/** The script for a shell; undefined for one we have none for. */
export function completionScript(shell: string, shape: CommandLineShape): string | undefined {
  return Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as Shell](shape) : undefined;
}
