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
  readonly refusedWith?: { readonly option: string; readonly why: string };
}

const APPLY: readonly KyvernoCommand[] = ["apply"];
const TEST: readonly KyvernoCommand[] = ["test"];
const BOTH: readonly KyvernoCommand[] = ["apply", "test"];

const taken = (commands: readonly KyvernoCommand[], ...flags: readonly string[]): KyvernoFlag => ({
  commands,
  flags,
  here: "taken",
});
const idle = (commands: readonly KyvernoCommand[], flags: readonly string[], why: string): KyvernoFlag => ({
  commands,
  flags,
  here: "idle",
  why,
});
const refused = (commands: readonly KyvernoCommand[], flags: readonly string[], why: string): KyvernoFlag => ({
  commands,
  flags,
  here: "refused",
  why,
});

const OLD_EXCEPTIONS =
  "it makes exceptions of the old kinds, which count for no policy here: write a PolicyException of policies.kyverno.io";

/** All flags of both commands. */
export const KYVERNO_FLAGS: readonly KyvernoFlag[] = [
  taken(APPLY, "-r, --resource <paths>", "--resources <paths>", "--json <paths>", "--http-payload <paths>"),
  taken(APPLY, "--envoy-payload <paths>", "-c, --cluster", "-n, --namespace <name>", "--kubeconfig <file>"),
  taken(APPLY, "-f, --values-file <file>", "-s, --set <values>", "-u, --userinfo <file>", "--context-file <file>"),
  taken(APPLY, "-e, --exception <files>", "--exceptions <files>", "--exceptions-within-resources"),
  taken(APPLY, "--exceptions-with-resources", "--exceptions-within-policies", "--crd-paths <paths>"),
  taken(APPLY, "--crd-path <paths>", "--parameter-resource <files>", "-p, --policy-report", "-t, --table"),
  taken(APPLY, "--output-format <format>", "--audit-warn", "--warn-exit-code <code>", "--warn-no-pass"),
  taken(APPLY, "--continue-on-fail"),
  taken(BOTH, "--detailed-results", "--remove-color"),
  taken(TEST, "-f, --file-name <name>", "-t, --test-case-selector <text>", "-o, --output-format <format>"),
  taken(TEST, "--fail-only", "--require-tests"),
  {
    ...taken(APPLY, "--username <name>"),
    why: "the requester of a CSR, not a user of git: clone the repository first",
  },
  idle(BOTH, ["-v, --v <level>"], "there is no log of steps"),
  idle(BOTH, ["--warnings-as-errors"], "of policies in deprecated kinds, none of which is served: they fail anyway"),
  idle(APPLY, ["--target-resource <paths>", "--target-resources <paths>"], "they are for policies that change objects"),
  idle(APPLY, ["--concurrent <number>"], "all processors are used where that is faster"),
  idle(APPLY, ["--batch-size <number>"], "a cluster's objects come in pages of a fixed size"),
  idle(APPLY, ["--continue-on-error"], "a resource that can't be read always ends the run"),
  idle(APPLY, ["--show-performance"], "nothing is measured"),
  {
    ...idle(APPLY, ["--cluster-wide-resources"], "they are among those of --cluster, unless --namespace is given"),
    refusedWith: {
      option: "namespace",
      why: "--namespace leaves them out: ask about them without it, in a second run",
    },
  },
  refused(
    APPLY,
    ["-o, --output <file>"],
    "it writes what policies have changed, and these change nothing; for results -p with --output-format, --sarif or --junit",
  ),
  refused(
    APPLY,
    ["-i, --stdin"],
    "it prints what policies have changed, and these change nothing; resources from standard input: --resource -",
  ),
  refused(
    BOTH,
    ["--registry"],
    "images that policies ask for are those of the context file (apply: --context-file; test: context)",
  ),
  refused(
    APPLY,
    ["--context <name>"],
    "the current context counts: kubectl config view --minify --flatten --context NAME > FILE, then --kubeconfig FILE",
  ),
  refused(BOTH, ["-b, --git-branch <name>"], "clone the repository first: git clone --branch NAME URL"),
  refused(APPLY, ["--password <text>"], "clone the repository first: git clone URL"),
  refused(APPLY, ["--generate-exceptions"], OLD_EXCEPTIONS),
  refused(APPLY, ["--generated-exception-ttl <duration>"], OLD_EXCEPTIONS),
];

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

/** Values that Go's flags take for switches. */
const SWITCHED: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

/** Arguments with `--switch=true`, `--switch=false` and `-x=value`, which Go's flags know, in the usual notation. */
function goArguments(args: readonly string[], { options }: Command): string[] {
  const end = args.indexOf("--");
  return args.flatMap((arg, index) => {
    const [, flag, value = ""] = /^(-\w|--[\w-]+)=(.*)$/s.exec(arg) ?? [];
    const option = options.find(({ short, long }) => flag !== undefined && (flag === short || flag === long));
    if (flag === undefined || option === undefined || (end !== -1 && index > end)) return [arg];
    if (option.required) return [flag, value];
    const on = SWITCHED.get(value);
    return on === undefined ? [arg] : on ? [flag] : [];
  });
}

/** The table of docs/apply.md. */
export function kyvernoFlagTable(): string {
  const said = { taken: "taken", idle: "taken, without effect", refused: "refused" };
  const both = new Map<string, string[]>();
  for (const { commands, flags, here, why } of KYVERNO_FLAGS) {
    const text = `${said[here]}${why === undefined ? "" : `: ${why}`}`;
    const row = `${commands.join(", ")} | ${text}`;
    both.set(row, [...(both.get(row) ?? []), ...flags.map((each) => `\`${each}\``)]);
  }
  const rows = [...both].map(([row, flags]) => `| ${flags.join(", ")} | ${row} |`);
  return ["| Flag of Kyverno's | Command | Here |", "| --- | --- | --- |", ...rows].join("\n");
}
