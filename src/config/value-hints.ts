/** Proposed corrections of values that are nearly right. */
import { nearest } from "../data/suggest.js";
import { TEMPLATE } from "../data/yaml.js";
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

/** A map that is written as a text or a list. */
export function objectHint(node: SourceNode): string | undefined {
  if (textOf(node) === undefined) return mapHint(node);
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

/** A list in the place of a map. */
export function mapHint(node: SourceNode): string | undefined {
  if (node.kind !== "list") return undefined;
  const hasMaps = node.items.length > 0 && node.items.every(({ kind }) => kind === "map");
  return hasMaps ? "write the keys without the - before them" : "write a map: a line `key: value` for each, and no -";
}

/** A map or a list in the place of a text. */
export function notTextHint(node: SourceNode): string | undefined {
  if (node.kind === "map")
    return node.pairs[0]?.key === "?"
      ? TEMPLATE
      : "write the text itself behind the colon, and other keys in lines that are indented as this one";
  const [only] = node.kind === "list" && node.items.length === 1 ? node.items : [];
  const text = only && textOf(only);
  return text === undefined || text.length > MAX_SHOWN
    ? undefined
    : `write it without the list: ${JSON.stringify(text)}`;
}

/** Beginnings of words elsewhere that mean the same, by the word here, in small letters; those of less than four letters are whole words. */
const SAME_MEANING: Readonly<Record<string, string>> = {
  protect: "enforc deny denied block reject strict activ enabl",
  monitor: "audit warn dryrun observ log report permissiv passiv shadow detect",
  deny: "enforc block reject fail protect",
  audit: "monitor log dryrun",
  fail: "closed failclosed deny strict",
  ignore: "open failopen allow skip",
  forbidden: "deny denied",
  exact: "equal strict",
  opa: "rego",
  kubewardenwapc: "wapc",
  none: "off no never false",
  all: "every always on true",
  rejected: "denied fail some",
  silent: "off none quiet",
  error: "fatal critical",
  update: "patch modify put",
  create: "post insert apply",
  delete: "remove",
  connect: "exec attach",
  "*": "all any every",
  in: "equal = ==",
  notin: "notequal !=",
  doesnotexist: "notexist absent !",
};

/** The word that was probably meant, by its meaning elsewhere, its letters or its beginning. */
export function wordMeant(written: string, words: readonly string[]): string | undefined {
  const bare = (word: string): string => word.toLowerCase().replaceAll(/[-_ ]/g, "");
  const begins = (word: string, start: string): boolean =>
    word === start || (start.length > 3 && word.startsWith(start));
  const asked = bare(written);
  return (
    words.find((word) => bare(word) === asked) ??
    words.find((word) => SAME_MEANING[bare(word)]?.split(" ").some((start) => begins(asked, start))) ??
    nearest(written, words) ??
    words.find((word) => begins(bare(word), asked) || begins(asked, bare(word)))
  );
}

/** One value in the place of a list; `keys`: those of its items. */
export function listHint(node: SourceNode, keys: readonly string[]): string | undefined {
  if (node.kind === "map") {
    const [first] = node.pairs;
    if (first?.key.startsWith("-")) return "write a space behind the -";
    const isItem = keys.length === 0 || node.pairs.some(({ key }) => keys.includes(key));
    return isItem
      ? "write a list: - before the first key, and the others indented as that"
      : `write a list of items with the keys ${keys.join(", ")}`;
  }
  const text = textOf(node);
  if (text === undefined || text.length > MAX_SHOWN || text.includes("\n")) return undefined;
  return `write a list: [${/^[\w./:-]+$/.test(text) ? text : JSON.stringify(text)}]`;
}

function textOf(node: SourceNode): string | undefined {
  return node.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}
