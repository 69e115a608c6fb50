/** Proposed corrections of values that are nearly right. */
import type { SourceNode } from "./documents/source-node.js";

/** Seconds of the units that durations have elsewhere. */
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, sec: 1, m: 60, min: 60, h: 3600 };

/** Longest text that a hint repeats. */
const MAX_SHOWN = 100;

/** A number in quotes, or with a unit. */
export function numberHint(node: SourceNode): string | undefined {
  const text = textOf(node)?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return `write the number without quotes: ${Number(text)}`;
  const [, number, unit = ""] = /^(\d{1,9}) ?([A-Za-z]{1,3})$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const seconds = SECONDS[unit];
  if (seconds !== undefined)
    return `the key says the unit: write ${Math.max(1, Math.ceil(Number(number) * seconds))}, in seconds`;
  return /^Mi?B?$/i.test(unit) ? `the key says the unit: write ${Number(number)}` : undefined;
}

/** A word that means true or false. */
export function flagHint(node: SourceNode): string | undefined {
  const text = textOf(node)?.toLowerCase();
  if (text === "true" || text === "yes" || text === "on") return "write true, without quotes";
  return text === "false" || text === "no" || text === "off" ? "write false, without quotes" : undefined;
}

/** A map that is written as a text. */
export function objectHint(node: SourceNode): string | undefined {
  if (textOf(node) === undefined) return undefined;
  return "write the keys below this one, without quotes and without |";
}

/** A text or a list in the place of a policy. */
export function entryHint(node: SourceNode, { member }: { readonly member: boolean }): string | undefined {
  if (node.kind === "list") return "a key is the name of one policy: write each name at the start of a line, and no -";
  const text = textOf(node);
  if (text === undefined || text.length > MAX_SHOWN || /\s/.test(text)) return undefined;
  if (/\.wasm$|^[a-z]+:\/\//.test(text)) return `write { module: ${text} }`;
  if (/\.ya?ml$/.test(text)) return `write { resource: ${text} }`;
  return member ? `write { policy: ${text} }` : undefined;
}

/** One value in the place of a list. */
export function listHint(node: SourceNode): string | undefined {
  const text = textOf(node);
  if (text === undefined || text.length > MAX_SHOWN || text.includes("\n")) return undefined;
  return `write a list: [${/^[\w./:-]+$/.test(text) ? text : JSON.stringify(text)}]`;
}

function textOf(node: SourceNode): string | undefined {
  return node.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}
