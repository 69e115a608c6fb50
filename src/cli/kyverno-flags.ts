/** The flags of Kyverno's `apply` and `test`, as its source has them (1.19.1, `cmd/cli/kubectl-kyverno`), and what becomes of each here. */
import { type Command, Option } from "commander";
import { type CommandIo, say, UsageError } from "../data/command-io.js";

type KyvernoCommand = "apply" | "test";

/** A flag, with its other spellings. */
export interface KyvernoFlag {
  readonly commands: readonly KyvernoCommand[];
  /** Each in commander's notation. */
  readonly flags: readonly string[];
  /** `taken`: an option of the command, defined with the others; `idle`: taken without an effect; `refused`: an error. */
  readonly here: "taken" | "idle" | "refused";
  /** Why it has no effect, or what to use instead; of a flag that is taken: another meaning. */
  readonly why?: string;
  /** An option with which it is refused all the same, with the reason. */
  readonly refusedWith?: { readonly option: string; readonly why: string } | undefined;
}

/** All flags of both commands: the commands, what becomes of the flags, the flags, and why. */
const TABLE = `
apply | taken | -r, --resource <paths> / --resources <paths> / --json <paths> / --http-payload <paths>
apply | taken | --envoy-payload <paths> / -c, --cluster / -n, --namespace <name> / --kubeconfig <file>
apply | taken | -f, --values-file <file> / -s, --set <values> / -u, --userinfo <file> / --context-file <file>
apply | taken | -e, --exception <files> / --exceptions <files> / --exceptions-within-resources
apply | taken | --exceptions-with-resources / --exceptions-within-policies / --crd-paths <paths> / --crd-path <paths>
apply | taken | --parameter-resource <files> / -p, --policy-report / -t, --table / --output-format <format>
apply | taken | --audit-warn / --warn-exit-code <code> / --warn-no-pass / --continue-on-fail
apply test | taken | --detailed-results / --remove-color
test | taken | -f, --file-name <name> / -t, --test-case-selector <text> / -o, --output-format <format>
test | taken | --fail-only / --require-tests
apply | taken | --username <name> | the requester of a CSR, not a user of git: clone the repository first
apply test | idle | -v, --v <level> | there is no log of steps
apply test | idle | --warnings-as-errors | policies of deprecated kinds are not served, and fail anyway
apply | idle | --target-resource <paths> / --target-resources <paths> | they are for policies that change objects
apply | idle | --concurrent <number> | all processors are used where that is faster
apply | idle | --batch-size <number> | a cluster's objects come in pages of a fixed size
apply | idle | --continue-on-error | a resource that can't be read always ends the run
apply | idle | --show-performance | nothing is measured
apply | idle | --cluster-wide-resources | they are among those of --cluster, unless --namespace is given
apply | refused | -o, --output <file> | it writes changed objects, and these policies change none; for results -p with --output-format, --sarif or --junit
apply | refused | -i, --stdin | it prints changed objects, and these policies change none; resources from standard input: --resource -
apply test | refused | --registry | images that policies ask for are those of the context file (apply: --context-file; test: context)
apply | refused | --context <name> | the current context counts: kubectl config view --minify --flatten --context NAME > FILE, then --kubeconfig FILE
apply test | refused | -b, --git-branch <name> | clone the repository first: git clone --branch NAME URL
apply | refused | --password <text> | clone the repository first: git clone URL
apply | refused | --generate-exceptions / --generated-exception-ttl <duration> | it makes exceptions of the old kinds, which count for no policy here: write a PolicyException of policies.kyverno.io
`;

/** Flags that are refused with another option. */
const REFUSED_WITH: Readonly<Record<string, KyvernoFlag["refusedWith"]>> = {
  "--cluster-wide-resources": {
    option: "namespace",
    why: "--namespace leaves them out: ask about them without it, in a second run",
  },
};

/** The rows of the table. */
export const KYVERNO_FLAGS: readonly KyvernoFlag[] = TABLE.trim()
  .split("\n")
  .map((line) => {
    const [commands = "", here, flags = "", why] = line.split(" | ");
    return {
      commands: commands.split(" ") as KyvernoCommand[],
      flags: flags.split(" / "),
      here: here as KyvernoFlag["here"],
      ...(why !== undefined && { why }),
      refusedWith: REFUSED_WITH[flags],
    };
  });

const namesOf = (flags: string): string => flags.replace(/ <.*/, "");

/** Defines the flags that are not options of the command already, and takes values of switches as Go writes them. */
export function addKyvernoFlags(command: Command, name: KyvernoCommand): void {
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
  for (const { commands, flags, here, why = "", refusedWith } of KYVERNO_FLAGS) {
    if (here === "taken" || !commands.includes(command.name() as KyvernoCommand)) continue;
    for (const each of flags) {
      if (!isGiven(new Option(each).attributeName())) continue;
      const reason = refusedWith !== undefined && isGiven(refusedWith.option) ? refusedWith.why : undefined;
      if (here === "refused" || reason !== undefined)
        throw new UsageError(`${namesOf(each)} of Kyverno's command is not served: ${reason ?? why}`);
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
  const rows = new Map<string, string[]>();
  for (const { commands, flags, here, why } of KYVERNO_FLAGS) {
    const rest = `${commands.join(", ")} | ${said[here]}${why === undefined ? "" : `: ${why}`}`;
    rows.set(rest, [...(rows.get(rest) ?? []), ...flags.map((each) => `\`${each}\``)]);
  }
  const lines = [...rows].map(([rest, flags]) => `| ${flags.join(", ")} | ${rest} |`);
  return ["| Flag of Kyverno's | Command | Here |", "| --- | --- | --- |", ...lines].join("\n");
}
