/** `replay` on the command line. */
import { Option } from "commander";
import { type AddCommand, collected, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";

/** Adds `replay`. */
export const addReplay: AddCommand = (program, { io, done }) => {
  const replay = program
    .command("replay")
    .description("put recorded requests to a configuration again, and say what would change")
    .argument(
      "[files...]",
      "recordings of serve --record, AdmissionReviews, or audit logs of the API server; folders, .gz, - for standard input",
    )
    .option("--against <file>", "policies file whose answers to compare with, in place of the recorded ones")
    .option("--policy <id>", "only this policy, by its recorded id; may be repeated", collected)
    .option("--map <old=new>", "a policy that has another id in the policies file; may be repeated", collected)
    .option("--all", "list every change, and not examples only")
    .option("--fail-on-change", "exit 1 when an answer would change, fail, or can't be decided")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["table", "json"]).default("table"));
  withOptions(replay, LOADING_OPTIONS);
  replay.allowExcessArguments(true);
  withExamples(replay, [
    ["policy-server replay requests.jsonl --policies new.yaml", "what new.yaml would answer otherwise"],
    ["policy-server replay requests.jsonl --policies new.yaml --against old.yaml", "the same, of two files"],
    ["policy-server replay audit.log.gz --policy no-host-network", "what a policy makes of an audit log"],
    ["policy-server replay requests/ -o json --fail-on-change", "for a pipeline"],
  ]);
  replay.action(async (files: string[]) => {
    const { replayCommand } = await import("../replay/index.js");
    done(await replayCommand(files, replay.opts(), settingsOf(replay, io), io));
  });
};
