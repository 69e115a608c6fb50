/** What of docs/ is made from the code. `npm run docs` writes it; the test beside this file fails when it is stale. */
import { commandLineTables } from "../../src/cli/documentation.js";
import { testsSchema } from "../../src/cli/test/json-schema.js";
import { configurationTables } from "../../src/config/documentation.js";
import { policiesSchema } from "../../src/config/json-schema.js";
import { metricsTables } from "../../src/telemetry/documentation.js";
import { dependencyTables } from "./dependency-tables.js";
import { importsPage } from "./imports-page.js";

/** Whole files, from the root of the repository. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const json = (schema: unknown): string => `${JSON.stringify(schema, null, 2)}\n`;
  return new Map([
    ["docs/policies.schema.json", json(policiesSchema())],
    ["docs/tests.schema.json", json(testsSchema())],
    ["docs/design/imports.md", importsPage()],
  ]);
}

/** Documents with generated blocks. */
export const DOCUMENTS_WITH_BLOCKS = [
  "docs/apply.md",
  "docs/command-line.md",
  "docs/configuration.md",
  "docs/dependencies.md",
  "docs/metrics.md",
];

/**
 * The text with every block `<!-- generated NAME -->` … `<!-- end -->` made anew.
 * @throws Error for a block that nothing makes
 */
export function withGeneratedBlocks(text: string): string {
  const blocks = { ...configurationTables(), ...commandLineTables(), ...metricsTables(), ...dependencyTables() };
  return text.replaceAll(/<!-- generated ([\w-]+) -->\n[\s\S]*?<!-- end -->/g, (_, name: string) => {
    if (!Object.hasOwn(blocks, name)) throw new Error(`nothing generates the block ${name}`);
    return `<!-- generated ${name} -->\n${blocks[name]}\n<!-- end -->`;
  });
}
