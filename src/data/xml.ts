/** Texts of others in XML, written such that every reader of XML 1.0 accepts the document, and people see their contents. */
import { escapedLines } from "./printable.js";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** The text with question marks for characters that XML cannot express well: most control characters, halves of surrogate pairs, and two noncharacters. */
const writable = (text: string): string => escapedLines(text.replace(/(?![\t\n])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, "?"));

/** A text for an attribute or between tags. */
export const xmlEscaped = (text: string): string =>
  writable(text).replace(/[&<>"\n]/g, (character) => ENTITIES[character] ?? "");

/** The same only for between tags, where line ends stay. */
export const xmlLines = (text: string): string =>
  writable(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");

/** A text as a CDATA section. */
export const xmlSection = (text: string): string =>
  `<![CDATA[${writable(text).replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;
