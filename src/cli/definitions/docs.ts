/** `docs` on the command line. */
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `docs`. */
export const addDocs: AddCommand = (program, { io, done }) => {
  const docs = program
    .command("docs")
    .description("print the reference of the command line in Markdown: every command, argument and option")
    .option("-o, --output <path>", "write it to this file; to a folder, under the name of the program")
    .allowExcessArguments(false);
  withExamples(docs, [
    ["policy-server docs", "read it"],
    ["policy-server docs --output docs/", "keep it in a folder"],
  ]);
  docs.action(async () => {
    const { docsCommand } = await import("../docs/index.js");
    done(await docsCommand(program, docs.opts<{ output?: string }>().output, io));
  });
};
