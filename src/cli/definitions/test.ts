/** `test` on the command line. */
import { InvalidArgumentError, Option } from "commander";
import { type AddCommand, LOADING_OPTIONS, withExamples, withImageLayouts, withOptions } from "../definition.js";
import { addKyvernoFlags, heedKyvernoFlags } from "../kyverno-flags.js";
import { settingsOf } from "../loader-settings.js";

/** Adds `test`. */
export const addTest: AddCommand = (program, { io, done }) => {
  const test = program
    .command("test")
    .description("run test files, of our own and kyverno-test.yaml; exit 1 if a case or row fails")
    .argument("[paths...]", "test files, or folders with *.test.yaml and kyverno-test.yaml (default: this folder)")
    .option("--junit <file>", "write the results as JUnit XML")
    .option("--sarif <file>", "write the failures as SARIF 2.1.0")
    .option("--coverage", "say which expressions and branches of the policies of policies.yaml no case reached")
    .option("--min-coverage <percent>", "fail below this", percentage)
    .option("-f, --file-name <name>", "name of test files in Kyverno's format", "kyverno-test.yaml")
    .option("-t, --test-case-selector <text>", "of those, only policy=NAME,rule=NAME,resource=NAME; with wildcards")
    .option(
      "-o, --output-format <format>",
      "their rows as json, yaml, markdown or junit instead of a table; json: the results of our own files, too",
    )
    .option("--detailed-results", "with the message of each row")
    .option("--fail-only", "only the rows that fail")
    .option("-w, --watch", "run again when a test file, a policy or what they name has changed; Ctrl+C ends")
    .option("--require-tests", "with --compat kyverno: exit 1 when there are no tests; without it they are required")
    .addOption(
      new Option("--compat <command>", "exit as this command does; what is printed stays").choices(["kyverno"]),
    )
    .option("--remove-color", "no colours, on a terminal either");
  addKyvernoFlags(test, "test");
  withExamples(test, [
    ["policy-server test", "every test below this folder"],
    ["policy-server test a.test.yaml --coverage", "one file, and what its cases did not reach"],
    ["policy-server test --watch", "again after every change"],
    ["policy-server test -o json --junit results.xml", "for programs"],
  ]);
  withOptions(withImageLayouts(test), LOADING_OPTIONS).action(async (written: string[]) => {
    heedKyvernoFlags(test, io);
    const { testCommand } = await import("../test/index.js");
    const paths = written.length === 0 ? ["."] : written;
    const settings = settingsOf(test, io);
    const { watch, ...options } = test.opts<{ watch?: true }>();
    if (watch !== true) return done(await testCommand(paths, options, settings, io));
    const [{ watchTests }, { stopSignal }] = await Promise.all([
      import("../test/watch.js"),
      import("../../serving/signals.js"),
    ]);
    const run: Parameters<typeof watchTests>[0] = (touched) => testCommand(paths, options, settings, io, touched);
    done(await watchTests(run, { paths, io, stopped: stopSignal() }));
  });
  withExamples(test, [
    ["policy-server test", "run all tests below this folder"],
    [
      "policy-server test policies --coverage --min-coverage 90",
      "run those of a folder, and fail when they reach too little",
    ],
    ["policy-server test --junit results.xml", "write the results for a CI server"],
  ]);
};

function percentage(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 100) return value;
  throw new InvalidArgumentError(`'${text}' is not a percentage`);
}
