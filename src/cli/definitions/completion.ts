/** `completion` on the command line. */

import { UsageError } from "../../data/command-io.js";
import { didYouMean } from "../../data/suggest.js";
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `completion`. */
export const addCompletion: AddCommand = (program, { io }) => {
  const completion = program
    .command("completion")
    .description("print a script that completes commands, flags, values and ids of policies: bash, zsh or fish")
    .argument("<shell>", "bash, zsh or fish; policies: the ids of a policies file, for these scripts")
    .argument("[file]", "with policies: the file")
    .allowExcessArguments(false)
    .action(async (shell: string, file: string | undefined) => {
      const { completionScript, policyIds, SHELLS } = await import("../completion/index.js");
      if (shell === "policies") {
        for (const id of policyIds(file ?? io.env.KUBEWARDEN_POLICIES)) io.stdout.write(`${id}\n`);
        return;
      }
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
    ["source <(policy-server completion bash)", "complete commands, flags, files and ids of policies in this shell"],
    ["policy-server completion fish | source", "complete them in fish"],
  ]);
};
