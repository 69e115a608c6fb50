/** `check` on the command line. */

import { type AddCommand, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { optionValues } from "../options.js";

/** What `check` alone has. */
interface CheckOptions {
  readonly batch?: true;
  readonly typecheck?: true;
  readonly schemas?: string;
  readonly kubernetesVersion?: string;
}

/** Adds it. */
export const addCheck: AddCommand = (program, { io, done }) => {
  const check = program.command("check").description("load the policies and say every mistake; exit 1 if there is one");
  withOptions(check, LOADING_OPTIONS)
    .argument("[file]", "the policies file (as --policies)")
    .option("--kubernetes-version <version>", "the Kubernetes that must store the policies, such as 1.34")
    .option("--batch", "instead, check the objects in JSON lines on standard input, one line of answer each")
    .option("--typecheck", "with --batch: the type checker's warnings instead of validation")
    .option("--schemas <file>", "with --typecheck: OpenAPI definitions instead of those of the built-in kinds")
    .action(async (file: string | undefined) => {
      const { batch, typecheck, schemas, ...written } = check.opts<CheckOptions>();
      const { kubernetesVersion } = await import("../kubernetes-version.js");
      const { kubernetesVersion: wanted } = written;
      const version = wanted === undefined ? undefined : kubernetesVersion(wanted);
      if (batch) {
        const { checkBatchCommand } = await import("../../batch/check-batch.js");
        const options = { typecheck: typecheck === true, ...(schemas && { schemas }), ...(version && { version }) };
        return done(await checkBatchCommand(options, io));
      }
      const { checkCommand } = await import("../check.js");
      const values = optionValues(check, LOADING_OPTIONS, io.env);
      done(await checkCommand(file === undefined ? values : { ...values, policies: file }, io, version));
    });
  withExamples(check, [
    ["policy-server check", "check policies.yaml in this folder"],
    [
      "policy-server check gateway.yaml --kubernetes-version 1.34",
      "check another file as Kubernetes 1.34 would store its policies",
    ],
  ]);
};
