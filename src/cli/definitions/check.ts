/** `check` on the command line. */
import { Option } from "commander";
import { UsageError } from "../../data/command-io.js";
import { type AddCommand, collected, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { upgradeVersion } from "../kubernetes-version.js";
import { settingsOf } from "../loader-settings.js";

/** Options of `check` alone. */
interface CheckOptions {
  readonly output: "text" | "json" | "sarif";
  readonly strict?: true;
  readonly upgrade?: string;
  readonly recorded?: readonly string[];
  readonly static?: true;
  readonly plugin?: string;
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
    .addOption(
      new Option(
        "--plugin <name>",
        "with --static: the plugin of the directory (default: that of its first object)",
      ).choices([
        "ValidatingAdmissionPolicy",
        "MutatingAdmissionPolicy",
        "ValidatingAdmissionWebhook",
        "MutatingAdmissionWebhook",
      ]),
    )
    .option(
      "--upgrade <version>",
      "say of each policy whether a newer Kubernetes decides otherwise; exit 1 if one does",
    )
    .option(
      "--recorded <file>",
      "with --upgrade: ask about the requests of a recording or an audit log, too; may be repeated",
      collected,
    )
    .option("--batch", "instead, check the objects in JSON lines on standard input, one line of answer each")
    .option("--typecheck", "with --batch: the type checker's warnings instead of validation")
    .option("--schemas <file>", "with --typecheck: OpenAPI definitions instead of those of the built-in kinds")
    .action(async (named: readonly string[]) => {
      const {
        batch,
        typecheck,
        schemas,
        output,
        strict,
        upgrade,
        recorded,
        static: isStatic,
        plugin,
      } = check.opts<CheckOptions>();
      const settings = settingsOf(check, io);
      const { kubernetesVersion: version } = settings;
      if (batch && upgrade !== undefined)
        throw new UsageError("--upgrade is for files of policies: --batch takes objects one by one");
      if (batch) {
        const { checkBatchCommand } = await import("../../offline/cases/check-batch.js");
        const options = { typecheck: typecheck === true, ...(schemas && { schemas }), ...(version && { version }) };
        return done(await checkBatchCommand(options, io));
      }
      if (plugin !== undefined && !isStatic)
        throw new UsageError("--plugin is for --static: it reads such directories");
      if (recorded !== undefined && upgrade === undefined)
        throw new UsageError("--recorded is for --upgrade: replay puts recorded requests to other policies");
      const { checkCommand } = await import("../check/index.js");
      const { inputsOf } = await import("../../offline/replay/inputs.js");
      const options = {
        named,
        output,
        strict: strict === true,
        static: isStatic === true,
        ...(plugin !== undefined && { plugin }),
        ...(version && { kubernetesVersion: version }),
        ...(upgrade !== undefined && { upgrade: upgradeVersion(upgrade, version) }),
        ...(recorded !== undefined && { recorded: await inputsOf(recorded, io.stdin) }),
      };
      done(await checkCommand(settings, options, io));
    });
  withExamples(check, [
    ["policy-server check", "check policies.yaml in this folder"],
    ["policy-server check a.yaml deploy/", "check a file, and all policies below a folder"],
    ["policy-server check -o sarif > check.sarif", "write what code scanning reads"],
    ["policy-server check --static /etc/kubernetes/admission/policies", "check what an API server reads at its start"],
    ["policy-server check --strict", "let warnings fail too, in a pipeline"],
    [
      "policy-server check --upgrade 1.38 --recorded audit.log",
      "say whose decisions Kubernetes 1.38 changes, and show it",
    ],
    [
      "policy-server check gateway.yaml --kubernetes-version 1.34",
      "check another file as Kubernetes 1.34 would store its policies",
    ],
  ]);
};
