/** `docs` on the command line. */
import { Option } from "commander";
import { type AddCommand, destinationOf, withExamples } from "../definition.js";

/** Adds `docs`. */
export const addDocs: AddCommand = (program, { io, done }) => {
  const docs = program
    .command("docs")
    .description("print the reference of the command line in Markdown: every command, argument and option")
    .option("-d, --destination <path>", "write it to this file; to a folder, under the name of the program")
    .addOption(new Option("-o, --output <path>", "as --destination").hideHelp())
    .allowExcessArguments(false);
  withExamples(docs, [
    ["policy-server docs", "read it"],
    ["policy-server docs --destination docs/", "keep it in a folder"],
  ]);
  docs.action(async () => {
    const { docsCommand } = await import("../docs/index.js");
    done(await docsCommand(program, destinationOf(docs.opts(), "--output", io), io));
  });
};
