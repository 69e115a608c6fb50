/** Texts in XML. */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** A text as it stands in an attribute or between tags. XML has no way to write most control characters; they become a question mark. */
export const xmlEscaped = (text: string): string =>
  text.replace(/[&<>"\n]/g, (character) => ENTITIES[character] ?? "").replace(/[^\P{Cc}\t]/gu, "?");
