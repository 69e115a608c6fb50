/** `completion` on the command line. */

import { UsageError } from "../../data/command-io.js";
import { didYouMean } from "../../data/suggest.js";
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `completion`. */
export const addCompletion: AddCommand = (program, { io }) => {
  const completion = program
    .command("completion")
    .description("print a script that completes commands, flags, values and ids of policies: bash, zsh or fish")
    .argument("<shell>", "bash, zsh or fish; words: what the scripts ask for")
    .argument("[words...]", "with words: the command line up to the cursor, behind --")
    .action(async (shell: string, written: readonly string[]) => {
      const { completionScript, SHELLS } = await import("../completion/scripts.js");
      if (shell === "words") {
        const { wordsAt } = await import("../completion/index.js");
        const found = wordsAt(program, written, "serve", io.env.KUBEWARDEN_POLICIES);
        io.stdout.write(found.map((line) => `${line}\n`).join(""));
        return;
      }
      const [more] = written;
      if (more !== undefined) throw new UsageError(`nothing stands behind the name of the shell: leave ${more} out`);
      const script = completionScript(shell, program.name());
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
