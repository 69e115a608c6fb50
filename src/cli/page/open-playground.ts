/** Where drafts of the page are taken. */
import { ThreadPlayground } from "../../page/play/thread-playground.js";
import type { Playground } from "../../page/playground.js";
import type { CommandIo } from "../io.js";
import type { PlayData } from "./thread.js";

/**
 * A playground beside what is served; its thread starts with the first question.
 * @param values options that policies are loaded with
 */
export function openPlayground(values: Readonly<Record<string, unknown>>, env: CommandIo["env"]): Playground {
  const data: PlayData = { values, env };
  return new ThreadPlayground(new URL("./thread.js", import.meta.url), data);
}
