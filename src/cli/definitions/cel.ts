/** `cel` on the command line. */
import { InvalidArgumentError } from "commander";
import { type AddCommand, withExamples } from "../definition.js";

/** Adds `cel`. */
export const addCel: AddCommand = (program, { io, done }) => {
  const cel = program
    .command("cel")
    .description("evaluate a CEL expression and print its value and type, or its error; without one, a prompt")
    .argument("[expression]", "the expression; without it standard input is, and on a terminal there is a prompt")
    .option("--vars <file>", "JSON object whose members are the variables")
    .option("--variables <file>", "declarations of variables with types and values")
    .option("--environment <name>", "kubernetes-1.28 to kubernetes-1.38, or standard; default that of the version")
    .option("--kubernetes-version <version>", "the Kubernetes whose API server evaluates, 1.28 to 1.38; default 1.37")
    .option("--explain", "print the expression with the value of every part")
    .option("--batch", 'read JSON lines {"expr": …} from standard input and write one line each')
    .option("--bench <count>", "with --batch: add nsPerEval, the time of one evaluation over this many", positive)
    .option("--no-history", "at the prompt: neither read nor write the history of what was typed")
    .allowExcessArguments(false);
  withExamples(cel, [
    ["policy-server cel '[1, 2, 3].map(x, x * 2)'", "one expression"],
    ["policy-server cel --vars vars.json < rule.cel", "one from a file, with variables"],
    ["policy-server cel 'object.spec.replicas > 3' --vars vars.json --explain", "the value of every part"],
    ["policy-server cel", "a prompt, with completion and history"],
  ]);
  cel.action(async (expression: string | undefined) => {
    const { celCommand } = await import("../cel.js");
    done(await celCommand({ ...cel.opts(), ...(expression !== undefined && { expression }) }, io));
  });
};

function positive(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError(`'${text}' is not a whole number above 0`);
}
