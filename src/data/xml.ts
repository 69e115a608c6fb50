/** Texts of others in XML: they are written such that every reader of XML 1.0 takes the document, and people see what stands in it. */
import { escapedLines } from "./printable.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** What XML has no way to write, or no good one, is a question mark: most control characters, halves of characters, and two that are none. */
const writable = (text: string): string => escapedLines(text.replace(/(?![\t\n])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, "?"));

/** A text as it stands in an attribute or between tags. */
export const xmlEscaped = (text: string): string =>
  writable(text).replace(/[&<>"\n]/g, (character) => ENTITIES[character] ?? "");

/** The same between tags alone, where ends of lines stay. */
export const xmlLines = (text: string): string =>
  writable(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");

/** A text as a section of its own, which may hold what is special in XML. */
export const xmlSection = (text: string): string =>
  `<![CDATA[${writable(text).replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;
