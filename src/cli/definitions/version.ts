/** `version` on the command line. */
import { VERSION } from "../../data/version.js";
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `version`. */
export const addVersion: AddCommand = (program, { io }) => {
  const version = program
    .command("version")
    .description("print the version, as --version and -v do")
    .allowExcessArguments(false)
    .action(() => {
      io.stdout.write(`policy-server ${VERSION}\n`);
    });
  withExamples(version, [["policy-server version", "print the version"]]);
};
