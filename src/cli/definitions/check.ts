/** `check` on the command line. */
import { Option } from "commander";
import { type AddCommand, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";

/** Options of `check` alone. */
interface CheckOptions {
  readonly output: "text" | "json" | "sarif";
  readonly strict?: true;
  readonly static?: true;
  readonly batch?: true;
  readonly typecheck?: true;
  readonly schemas?: string;
}

const OUTPUT = new Option("-o, --output <format>", "how problems are told")
  .choices(["text", "json", "sarif"])
  .default("text");

/** Adds `check`. */
export const addCheck: AddCommand = (program, { io, done }) => {
  const check = program.command("check").description("load the policies and say every mistake; exit 1 if there is one");
  withOptions(check, LOADING_OPTIONS)
    .argument(
      "[files...]",
      "policies files, policy documents, or folders of them; - is standard input (default: --policies)",
    )
    .addOption(OUTPUT)
    .option("--strict", "exit 1 for warnings, too")
    .option("--static", "check static manifests of an API server: a directory is one of its admission plugins' own")
    .option("--batch", "instead, check the objects in JSON lines on standard input, one line of answer each")
    .option("--typecheck", "with --batch: the type checker's warnings instead of validation")
    .option("--schemas <file>", "with --typecheck: OpenAPI definitions instead of those of the built-in kinds")
    .action(async (named: readonly string[]) => {
      const { batch, typecheck, schemas, output, strict, static: isStatic } = check.opts<CheckOptions>();
      const settings = settingsOf(check, io);
      const { kubernetesVersion: version } = settings;
      if (batch) {
        const { checkBatchCommand } = await import("../../offline/cases/check-batch.js");
        const options = { typecheck: typecheck === true, ...(schemas && { schemas }), ...(version && { version }) };
        return done(await checkBatchCommand(options, io));
      }
      const { checkCommand } = await import("../check/index.js");
      const wanted = { named, output, strict: strict === true, static: isStatic === true };
      const options = { ...wanted, ...(version && { kubernetesVersion: version }) };
      done(await checkCommand(settings, options, io));
    });
  withExamples(check, [
    ["policy-server check", "check policies.yaml in this folder"],
    ["policy-server check a.yaml deploy/", "check a file, and all policies below a folder"],
    ["policy-server check -o sarif > check.sarif", "write what code scanning reads"],
    ["policy-server check --static /etc/kubernetes/admission/policies", "check what an API server reads at its start"],
    ["policy-server check --strict", "let warnings fail too, in a pipeline"],
    [
      "policy-server check gateway.yaml --kubernetes-version 1.34",
      "check another file as Kubernetes 1.34 would store its policies",
    ],
  ]);
};
