/** `completion <shell>`: a script that completes commands, flags, their values, and ids of policies, for which it asks `completion policies`. */
import { loadConfig } from "../../config/index.js";
import { policiesFile } from "../../loader/settings.js";
import { bashCompletion } from "./bash.js";
import { fishCompletion } from "./fish.js";
import type { CommandLineShape } from "./shape.js";
import { zshCompletion } from "./zsh.js";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** Supported shells. */
export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

/** A supported shell. */
export type Shell = keyof typeof SCRIPTS;

/** The script for a shell; undefined for an unsupported one. */
export function completionScript(shell: string, shape: CommandLineShape): string | undefined {
  return Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as Shell](shape) : undefined;
}

/** Ids that need no quotes in any of the shells. */
const PLAIN_ID = /^[\w./-]+$/;

/**
 * The ids of a policies file, members of groups included; none of a file that cannot be read.
 * @param file absent: the default one
 */
export function policyIds(file: string | undefined): readonly string[] {
  const read = loadConfig(policiesFile({ file }), { salvage: true });
  const config = read.ok ? read.config : read.salvaged?.config;
  const ids = (config?.entries ?? []).flatMap((entry) => [
    entry.id,
    ...(entry.kind === "group" ? entry.members.map(({ name }) => `${entry.id}/${name}`) : []),
  ]);
  return ids.filter((id) => PLAIN_ID.test(id));
}
