/** Texts as Go's YAML encoder writes them in a list of maps. */

/** Would be read as something else than a text: booleans, null, numbers, times. */
const OTHER_TYPE =
  /^(~|null|Null|NULL|true|True|TRUE|false|False|FALSE|y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|\.[0-9][0-9_]*([eE][-+]?[0-9]+)?)|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|\d{4}-\d\d?-\d\d?([Tt\s].*)?)$/;
/** What cannot stand at the beginning, or anywhere, without quotes. */
const NOT_PLAIN = /^([,[\]{}#&*!|>'"%@`]|[-?:](\s|$)|---|\.\.\.)|: |:$| #|^ | $/;

/** A text behind `key: `; lines of its own are indented by four. */
export function yamlScalar(text: string): string {
  const lines = text.split("\n");
  if (lines.some((line) => /[^\P{Cc}]|\ufeff/u.test(line))) return JSON.stringify(text).replace(/\\u00/g, "\\x");
  if (lines.length > 1) {
    // Blanks at the beginning would count as indentation.
    if (/^\s/.test(text)) return JSON.stringify(text);
    const end = !text.endsWith("\n") ? "-" : text.endsWith("\n\n") ? "+" : "";
    const own = end === "-" ? lines : lines.slice(0, -1);
    return `|${end}\n${own.map((line) => (line === "" ? "" : `    ${line}`)).join("\n")}`;
  }
  if (text === "" || OTHER_TYPE.test(text)) return JSON.stringify(text);
  return NOT_PLAIN.test(text) ? `'${text.replaceAll("'", "''")}'` : text;
}
