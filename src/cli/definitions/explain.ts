/** `explain` on the command line. */
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `explain`. */
export const addExplain: AddCommand = (program, { io }) => {
  const explain = program
    .command("explain")
    .description("print what the code of a mistake means, and how to mend it")
    .argument("[code]", "as `check` prints it, such as CONFIG_UNKNOWN_KEY; without it all codes")
    .allowExcessArguments(false)
    .action(async (code: string | undefined) => {
      const { explainCommand } = await import("../explain-code.js");
      explainCommand(code, io);
    });
  withExamples(explain, [
    ["policy-server explain CONFIG_REFERENCE", "see what one code means"],
    ["policy-server explain", "list all codes, a line each"],
  ]);
};
