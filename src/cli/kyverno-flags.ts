/** The flags of Kyverno's `apply` and `test`, as its source has them (1.19.1, `cmd/cli/kubectl-kyverno`), and what becomes of each here. */
import { type Command, Option } from "commander";
import { type CommandIo, say, UsageError } from "../data/command-io.js";

/** The use of a flag here: an option defined with the others, an option without an effect, an error. */
type Fate = "taken" | "idle" | "refused";

/** Flags with one reason. */
export interface KyvernoFlags {
  readonly commands: readonly string[];
  /** Each in commander's notation. */
  readonly flags: readonly string[];
  readonly here: Fate;
  /** Why they have no effect, or what to use instead; of flags that are taken: another meaning, or `""`. */
  readonly why: string;
}

/** Reasons by flags (`|` between them), by commands, by what becomes of the flags. */
const TABLE: Readonly<Record<Fate, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  taken: {
    apply: {
      [`-r, --resource <paths>|--resources <paths>|--json <paths>|--http-payload <paths>|--envoy-payload <paths>|
        -c, --cluster|-n, --namespace <name>|--kubeconfig <file>|-f, --values-file <file>|-s, --set <values>|
        -u, --userinfo <file>|--context-file <file>|-e, --exception <files>|--exceptions <files>|
        --exceptions-within-resources|--exceptions-with-resources|--exceptions-within-policies|--crd-paths <paths>|
        --crd-path <paths>|--parameter-resource <files>|-o, --output <file>|-p, --policy-report|-t, --table|--output-format <format>|
        --audit-warn|--warn-exit-code <code>|--warn-no-pass|--continue-on-fail`]: "",
      "--username <name>": "the requester of a CSR, not a user of git: clone the repository first",
    },
    "apply, test": { "--detailed-results|--remove-color": "" },
    test: {
      [`-f, --file-name <name>|-t, --test-case-selector <text>|-o, --output-format <format>|--fail-only|
        --require-tests`]: "",
    },
  },
  idle: {
    "apply, test": {
      "-v, --v <level>": "there is no log of steps",
      "--warnings-as-errors": "policies of deprecated kinds are not served, and fail anyway",
    },
    apply: {
      "--target-resource <paths>|--target-resources <paths>":
        "they are for policies that change existing objects, which are not served",
      "--concurrent <number>": "all processors are used where that is faster",
      "--batch-size <number>": "a cluster's objects come in pages of a fixed size",
      "--continue-on-error": "a resource that can't be read always ends the run",
      "--show-performance": "nothing is measured",
      "--cluster-wide-resources": "they are among those of --cluster, unless --namespace is given",
    },
  },
  refused: {
    "apply, test": {
      "--registry":
        "images that policies ask for are those of the context file (apply: --context-file; test: context), and of --image-layout",
      "-b, --git-branch <name>": "clone the repository first: git clone --branch NAME URL",
    },
    apply: {
      "-i, --stdin":
        "it prints changed objects alone: --output writes them; resources from standard input: --resource -",
      "--context <name>":
        "the current context counts: kubectl config view --minify --flatten --context NAME > FILE, then --kubeconfig FILE",
      "--password <text>": "clone the repository first: git clone URL",
      "--generate-exceptions|--generated-exception-ttl <duration>":
        "it makes exceptions of the old kinds, which count for no policy here: write a PolicyException of policies.kyverno.io",
    },
  },
};

/** All flags of both commands. */
export const KYVERNO_FLAGS: readonly KyvernoFlags[] = Object.entries(TABLE).flatMap(([here, byCommands]) =>
  Object.entries(byCommands).flatMap(([commands, reasons]) =>
    Object.entries(reasons).map(([flags, why]) => ({
      commands: commands.split(", "),
      flags: flags.split(/\|\s*/),
      here: here as Fate,
      why,
    })),
  ),
);

const namesOf = (flags: string): string => flags.replace(/ <.*/, "");

/** Defines the flags that are not options of the command already, and takes values of switches as Go writes them. */
export function addKyvernoFlags(command: Command, name: "apply" | "test"): void {
  command.option("--verbose", "say which given flags of Kyverno's command have no effect here");
  for (const { commands, flags, here } of KYVERNO_FLAGS) {
    if (here === "taken" || !commands.includes(name)) continue;
    for (const each of flags) command.addOption(new Option(each).hideHelp());
  }
  const parseOptions = command.parseOptions.bind(command);
  command.parseOptions = (args) => parseOptions(goArguments(args, command));
}

/**
 * Speaks of the flags that were given and are not options of ours.
 * @throws UsageError for one that is refused
 */
export function heedKyvernoFlags(command: Command, { stderr }: Pick<CommandIo, "stderr">): void {
  const isGiven = (option: string): boolean => command.getOptionValueSource(option) === "cli";
  for (const { commands, flags, here, why } of KYVERNO_FLAGS) {
    if (here === "taken" || !commands.includes(command.name())) continue;
    for (const each of flags.filter((flag) => isGiven(new Option(flag).attributeName()))) {
      if (here === "refused") throw new UsageError(`${namesOf(each)} of Kyverno's command is not served: ${why}`);
      if (isGiven("verbose")) say(stderr, `note: ${namesOf(each)} has no effect here: ${why}`);
    }
  }
}

/** Arguments with `--switch=true`, `--switch=false` and `-x=value`, which Go's flags know, in the usual notation. */
function goArguments(args: readonly string[], { options }: Command): string[] {
  const end = args.indexOf("--");
  return args.flatMap((arg, index) => {
    const [, flag = "", value = ""] = /^(-\w|--[\w-]+)=(.*)$/s.exec(arg) ?? [];
    const option = options.find(({ short, long }) => flag === short || flag === long);
    if (option === undefined || (end !== -1 && index > end)) return [arg];
    if (option.required) return [flag, value];
    if (/^(?:1|t|T|true|TRUE|True)$/.test(value)) return [flag];
    return /^(?:0|f|F|false|FALSE|False)$/.test(value) ? [] : [arg];
  });
}

/** The table of docs/apply.md. */
export function kyvernoFlagTable(): string {
  const said = { taken: "taken", idle: "taken, without effect", refused: "refused" };
  const rows = KYVERNO_FLAGS.map(({ commands, flags, here, why }) => {
    const names = flags.map((each) => `\`${each}\``).join(", ");
    return `| ${names} | ${commands.join(", ")} | ${said[here]}${why === "" ? "" : `: ${why}`} |`;
  });
  return ["| Flag of Kyverno's | Command | Here |", "| --- | --- | --- |", ...rows].join("\n");
}
