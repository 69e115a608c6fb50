/** docs/design/imports.md, made from the rules that test/architecture holds. */
import { IMPORT_RULES, INNER_ROOMS } from "../architecture/import-rules.js";

const BEGIN = `# Which room imports which

Decided: a folder of \`src\` (a room) imports only the rooms that this table names, and no file imports itself by way of others. So a room can be read,
tested and replaced with what stands in its row, and a change has a known reach. This page is generated from \`test/architecture/import-rules.ts\`;
\`test/architecture\` holds it for every import, types included.

- A folder of \`kinds/\` is a room of its own: a kind knows no other kind. \`kinds/registry\`, which knows all of them, is one too, and so are these
  inner rooms: ${INNER_ROOMS.map((room) => `\`${room}\``).join(", ")}.
- "(types)" means that only types may be imported.
- \`page/browser\` runs in browsers: it imports types of \`page\`, and the one file that cuts expressions.
- Other rooms import \`cel/index.js\` and nothing deeper in \`cel\`.
- What two files of a room share stands in a third file.
- A room without a row imports nothing of \`src\`.

To allow an import, add it to \`import-rules.ts\` with a reason in the commit's message, and run \`npm run docs\`.
`;

export function importsPage(): string {
  const rows = Object.entries(IMPORT_RULES).map(([room, { rooms, types = [] }]) => {
    const names = [...rooms, ...types.map((name) => `${name} (types)`)];
    return `| \`${room}\` | ${names.join(", ") || "nothing"} |`;
  });
  return [BEGIN, "| Room | May import |", "| --- | --- |", ...rows, ""].join("\n");
}
