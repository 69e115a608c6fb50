/** What a page says that a command prints: `…` stands for what differs from run to run, and columns are as wide as what stands in them. */

/**
 * Whether a text is what a page says.
 * @param said on the page: `…` is any text within a line, and a line of its own any number of lines
 */
export function printsAs(said: string, printed: string): boolean {
  const lines = said
    .trim()
    .split("\n")
    .map((line) => (line.trim() === "…" ? "(?:.*\\n)*" : `${line.split("…").map(quoted).join(".*")}\\n`));
  return new RegExp(`^${lines.join("")}$`).test(`${printed.trim()}\n`);
}

const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/ {2,}/g, " +");
