/**
 * The command line: which command, with which options. Commands are imported when they run, so that `--help` and `cel` start fast.
 */
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { didYouMean } from "../data/suggest.js";
import { addApplyOptions } from "./apply/options.js";
import { addAuditOptions } from "./audit/options.js";
import { addCertificateRequestOptions } from "./certificate-request-options.js";
import { type CommandIo, UsageError } from "./io.js";
import { KUBERNETES_OPTION, type OptionDefinition, SERVE_OPTIONS } from "./option-definitions.js";
import { addOption, optionValues } from "./options.js";
import { openFilesProblem } from "./serve/open-files.js";

/** Exit code for a command line that cannot be carried out. */
const EXIT_USAGE = 2;
/** Exit code for a command that failed unexpectedly. */
const EXIT_FAILURE = 1;

/** What `check` alone has. */
interface CheckOptions {
  readonly batch?: true;
  readonly typecheck?: true;
  readonly schemas?: string;
  readonly kubernetesVersion?: string;
}

/** What `check` and `eval` share with `serve`. */
const LOADING_OPTIONS: readonly OptionDefinition[] = [
  ...SERVE_OPTIONS.filter(({ flag }) =>
    [
      "policies",
      "policy-timeout",
      "disable-timeout-protection",
      "workers",
      "policies-download-dir",
      "sources-path",
      "verification-path",
      "docker-config-json-path",
      "sigstore-cache-dir",
      "sigstore-trust-config",
      "kubeconfig",
      "http-blocklist",
      "http-allowlist",
      "allow-http-in-namespaced-policies",
    ].includes(flag),
  ),
  KUBERNETES_OPTION,
];

/**
 * Runs a command line.
 * @returns the exit code; for `serve` once the server has stopped
 */
export async function runCommandLine(args: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  const program = commandLine(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    io.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
  }
}

function commandLine(io: CommandIo, done: (exitCode: number) => void): Command {
  const program = new Command("policy-server")
    .description("Serves admission policies of every kind, and groups of them.")
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) });

  const serve = program
    .command("serve", { isDefault: true })
    .description("serve policies over HTTP (the default)")
    .usage("[options]");
  withOptions(serve, SERVE_OPTIONS)
    .argument("[command]")
    .action(async (unknown: string | undefined) => {
      if (unknown !== undefined) throw new UsageError(unknownCommand(unknown, program));
      // Loading what follows opens many files.
      const few = openFilesProblem();
      if (few?.fatal) {
        io.stderr.write(`Error: ${few.message}\n`);
        return done(1);
      }
      const { serveCommand } = await import("./serve/index.js");
      done(await serveCommand(optionValues(serve, SERVE_OPTIONS, io.env), io));
    });

  const check = program.command("check").description("load the policies and say every mistake; exit 1 if there is one");
  withOptions(check, LOADING_OPTIONS)
    .argument("[file]", "the policies file (as --policies)")
    .option("--kubernetes-version <version>", "the Kubernetes that must store the policies, such as 1.34")
    .option("--batch", "instead, check the objects in JSON lines on standard input, one line of answer each")
    .option("--typecheck", "with --batch: the type checker's warnings instead of validation")
    .option("--schemas <file>", "with --typecheck: OpenAPI definitions instead of those of the built-in kinds")
    .action(async (file: string | undefined) => {
      const { batch, typecheck, schemas, ...written } = check.opts<CheckOptions>();
      const { kubernetesVersion } = await import("./kubernetes-version.js");
      const { kubernetesVersion: wanted } = written;
      const version = wanted === undefined ? undefined : kubernetesVersion(wanted);
      if (batch) {
        const { checkBatchCommand } = await import("../batch/check-batch.js");
        const options = { typecheck: typecheck === true, ...(schemas && { schemas }), ...(version && { version }) };
        return done(await checkBatchCommand(options, io));
      }
      const { checkCommand } = await import("./check.js");
      const values = optionValues(check, LOADING_OPTIONS, io.env);
      done(await checkCommand(file === undefined ? values : { ...values, policies: file }, io, version));
    });

  const evaluate = program
    .command("eval")
    .description("ask one policy and print its answer; exit 0 allowed, 1 denied, 2 error")
    .argument("[policy]", "id of the policy, group or <group>/<member>")
    .option("--object <file>", "Kubernetes object to ask about (YAML or JSON; - is standard input)")
    .option("--old <file>", "its former state")
    .option("--csr <file>", "a CSR (PEM or DER) instead: the object is a CertificateRequest made of it")
    .option("--operation <name>", "CREATE, UPDATE, DELETE or CONNECT")
    .option("--namespace <name>", "namespace of the request")
    .option("--request <file>", "a whole AdmissionReview instead, or what is in its request")
    .option("--raw <file>", "any JSON as raw payload instead")
    .option("--explain", "say on standard error what every expression came to, and why")
    .option("--record-host-capabilities <file>", "write what the policy asked of the host, and the answers")
    .option(
      "--replay-host-capabilities <file>",
      "answer the policy from such a file instead of a cluster or a registry",
    )
    .option("--batch", "instead, decide cases written down whole, JSON lines on standard input")
    .option("--cases <format>", "with --batch: how they are written", "validating-admission-policy");
  addCertificateRequestOptions(evaluate);
  withOptions(evaluate, LOADING_OPTIONS).action(async (id: string | undefined) => {
    const { batch, cases, explain } = evaluate.opts<{ batch?: true; cases: string; explain?: true }>();
    if (batch) {
      if (explain) throw new UsageError("--explain is about one answer, and not for --batch");
      const { evalBatchCommand } = await import("../batch/eval-batch.js");
      return done(await evalBatchCommand({ cases }, io));
    }
    if (id === undefined) throw new UsageError("which policy? eval <policy>");
    const { evalCommand } = await import("./eval.js");
    const values = optionValues(evaluate, LOADING_OPTIONS, io.env);
    done(await evalCommand(id, evaluate.opts(), values, io));
  });

  const test = program
    .command("test")
    .description("run test files, of our own and kyverno-test.yaml; exit 1 if a case or row fails")
    .argument("[paths...]", "test files, or folders with *.test.yaml and kyverno-test.yaml (default: this folder)")
    .option("--junit <file>", "write the results as JUnit XML")
    .option("--coverage", "say which expressions and branches of the policies of policies.yaml no case reached")
    .option("--min-coverage <percent>", "fail below this", percentage)
    .option("-f, --file-name <name>", "name of test files in Kyverno's format", "kyverno-test.yaml")
    .option("-t, --test-case-selector <text>", "of those, only policy=NAME,rule=NAME,resource=NAME; with wildcards")
    .option("-o, --output-format <format>", "their rows as json, yaml, markdown or junit instead of a table")
    .option("--detailed-results", "with the message of each row")
    .option("--fail-only", "only the rows that fail")
    .option("--require-tests", "exit 1 when there are no tests")
    .option("--remove-color", "no colours, on a terminal either");
  withOptions(test, LOADING_OPTIONS).action(async (paths: string[]) => {
    const { testCommand } = await import("./test.js");
    const values = optionValues(test, LOADING_OPTIONS, io.env);
    done(await testCommand(paths.length === 0 ? ["."] : paths, test.opts(), values, io));
  });

  const apply = program
    .command("apply")
    .description("apply policies to resources from files or a cluster, as Kyverno's apply does; exit 1 if one fails")
    .argument("[policies...]", "files and folders with policies, - for standard input, or ids with --policies");
  addApplyOptions(apply);
  withOptions(apply, LOADING_OPTIONS).allowExcessArguments(true);
  apply.action(async (policies: string[]) => {
    const { applyCommand } = await import("./apply/index.js");
    done(await applyCommand(policies, apply.opts(), optionValues(apply, LOADING_OPTIONS, io.env), io));
  });

  const audit = program
    .command("audit")
    .description(
      "apply the policies to the objects of a cluster, once, as serve does in the background; exit 1 if one fails",
    );
  addAuditOptions(audit);
  withOptions(audit, LOADING_OPTIONS).action(async () => {
    const { auditCommand } = await import("./audit/index.js");
    done(await auditCommand(audit.opts(), optionValues(audit, LOADING_OPTIONS, io.env), io));
  });

  const cel = program
    .command("cel")
    .description("evaluate a CEL expression and print its value and type, or its error")
    .argument("[expression]", "the expression; not with --batch")
    .option("--vars <file>", "JSON object whose members are the variables")
    .option("--variables <file>", "declarations of variables with types and values")
    .option("--environment <name>", "kubernetes-1.28 to kubernetes-1.37, or standard", "kubernetes-1.37")
    .option("--explain", "print the expression with the value of every part")
    .option("--batch", 'read JSON lines {"expr": …} from standard input and write one line each')
    .option("--bench <count>", "with --batch: add nsPerEval, the time of one evaluation over this many", positive)
    .allowExcessArguments(false);
  cel.action(async (expression: string | undefined) => {
    const { celCommand } = await import("./cel.js");
    done(await celCommand({ ...cel.opts(), ...(expression !== undefined && { expression }) }, io));
  });

  const read = program
    .command("read")
    .description("print every document of YAML and JSON files as a line of JSON, as it is read here and by Kubernetes")
    .argument("[files...]", "the files; - or none: standard input")
    .option("--positions", "with the file, and the line and column of the document and of each value in it");
  read.action(async (files: string[]) => {
    const { readCommand } = await import("./read/index.js");
    done(await readCommand(files, read.opts<{ positions?: true }>().positions === true, io));
  });

  const webhooks = program
    .command("webhooks")
    .description("print the webhook configurations by which a cluster asks the policies of a policies.yaml")
    .argument("[file]", "the policies file (as --policies)")
    .option("--service <namespace/name>", "the Service of the server", "policy-server/policy-server")
    .option("--webhook-url <url>", "https://<host>:<port> of a server without a Service")
    .option("--ca-file <file>", "PEM: who has signed the server's certificate")
    .option(
      "--from-cluster",
      "what the leader of a server makes of the policies that the cluster has; ids of a policies file go before theirs",
    )
    .option(
      "--policy-server-name <name>",
      "with --from-cluster: of Kubewarden's policies those for this PolicyServer",
      "default",
    )
    .option("--enforce-admission-policies", "with --from-cluster: of ValidatingAdmissionPolicies, too")
    .option(
      "--kubeconfig <file>",
      "with --from-cluster: of the cluster; without it KUBECONFIG, ~/.kube/config, or the pod's service account",
    );
  withOptions(
    webhooks,
    LOADING_OPTIONS.filter(({ flag }) => flag === "policies"),
  ).action(async (file: string | undefined) => {
    const { webhooksCommand } = await import("./webhooks.js");
    const values = optionValues(webhooks, LOADING_OPTIONS, io.env);
    done(await webhooksCommand(file === undefined ? values : { ...values, policies: file }, webhooks.opts(), io));
  });

  program
    .command("completion")
    .description("print a script that completes commands and flags: bash, zsh or fish")
    .argument("<shell>", "bash, zsh or fish")
    .allowExcessArguments(false)
    .action(async (shell: string) => {
      const { completionScript, SHELLS } = await import("./completion/index.js");
      const { shapeOf } = await import("./completion/shape.js");
      const script = completionScript(shell, shapeOf(program, serve.name()));
      if (script === undefined) {
        throw new UsageError(
          `unknown shell '${shell}'${didYouMean(shell, SHELLS) || ` (shells: ${SHELLS.join(", ")})`}`,
        );
      }
      io.stdout.write(script);
    });

  return program;
}

function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name());
  return `unknown command '${name}'${didYouMean(name, names) || ` (commands: ${names.join(", ")})`}`;
}

function percentage(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 100) return value;
  throw new InvalidArgumentError(`'${text}' is not a percentage`);
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError(`'${text}' is not a whole number above 0`);
}

function withOptions(command: Command, definitions: readonly OptionDefinition[]): Command {
  for (const definition of definitions) addOption(command, definition);
  return command.allowExcessArguments(false);
}
