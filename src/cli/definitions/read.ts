/** `read` on the command line. */
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `read`. */
export const addRead: AddCommand = (program, { io, done }) => {
  const read = program
    .command("read")
    .description("print every document of YAML and JSON files as a line of JSON, as it is read here and by Kubernetes")
    .argument("[files...]", "the files; - or none: standard input")
    .option("--positions", "with the file, and the line and column of the document and of each value in it");
  read.action(async (files: string[]) => {
    const { readCommand } = await import("../read/index.js");
    done(await readCommand(files, read.opts<{ positions?: true }>().positions === true, io));
  });
  withExamples(read, [
    ["policy-server read deployment.yaml", "see a file as Kubernetes reads it"],
    ["kustomize build . | policy-server read --positions -", "see where each value stands"],
  ]);
};
