/** `completion` on the command line. */

import { UsageError } from "../../data/command-io.js";
import { didYouMean } from "../../data/suggest.js";
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `completion`. */
export const addCompletion: AddCommand = (program, { io }) => {
  const completion = program
    .command("completion")
    .description("print a script that completes commands and flags: bash, zsh or fish")
    .argument("<shell>", "bash, zsh or fish")
    .allowExcessArguments(false)
    .action(async (shell: string) => {
      const { completionScript, SHELLS } = await import("../completion/index.js");
      const { shapeOf } = await import("../completion/shape.js");
      const script = completionScript(shell, shapeOf(program, "serve"));
      if (script === undefined) {
        throw new UsageError(
          `unknown shell '${shell}'${didYouMean(shell, SHELLS) || ` (shells: ${SHELLS.join(", ")})`}`,
        );
      }
      io.stdout.write(script);
    });
  withExamples(completion, [
    ["source <(policy-server completion bash)", "complete commands and flags in this shell"],
    ["policy-server completion fish | source", "complete them in fish"],
  ]);
};
