import { CAPABILITY_PATHS } from "./capability-patterns.js";
import { celSpec } from "./cel-fields.js";
import { boundKeys, certificateRequests } from "./certificate-request-fields.js";
import { ENTRY_FIELDS, KIND_KEYS, type KindKey, MEMBER_FIELDS, REFERENCE_FIELDS } from "./entry-fields.js";
import type { Fields } from "./record-shape.js";
import { anyValue } from "./shape.js";

/** The tables of docs/configuration.md by the name of their block, made from the definition that reads the file. */
export function configurationTables(): Readonly<Record<string, string>> {
  const tables: Record<string, string> = {
    reference: fieldTable(REFERENCE_FIELDS),
    "cel-spec": fieldTable(celSpec.fields),
    "certificate-requests": fieldTable(certificateRequests.fields),
    bound: fieldTable(boundKeys),
  };
  for (const kind of KIND_KEYS) tables[kind] = fieldTable(ENTRY_FIELDS[kind], kind);
  tables.capabilities = [...CAPABILITY_PATHS]
    .sort()
    .map((capability) => `- \`${capability}\``)
    .join("\n");
  return tables;
}

/** A table with one row a key; with `kind`, a column says whether inline members have the key too. */
function fieldTable(fields: Fields, kind?: KindKey): string {
  const members: Fields | undefined = kind && MEMBER_FIELDS[kind];
  const rows = Object.entries(fields).map(([key, { shape, doc, default: whenAbsent, required }]) => [
    `\`${key}\``,
    label(key, shape.label),
    required ? "required" : (whenAbsent ?? "none"),
    ...(members ? [key in members ? "yes" : "no"] : []),
    doc,
  ]);
  const head = ["Key", "Type", "Default", ...(members ? ["In members"] : []), "Meaning"];
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}

/** The type in a table's cell. Nested maps are too long for it: their keys are in the schema. */
function label(key: string, text: string): string {
  if (key === "policies" && text === anyValue.label) return "map of member, or list of member with `name`";
  return text.replaceAll("map with ", "map of ");
}
