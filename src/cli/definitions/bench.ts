/** `bench` on the command line. */
import { InvalidArgumentError } from "commander";
import { addCertificateRequestOptions } from "../certificate-request-options.js";
import { type AddCommand, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";
import { addQuestionOptions } from "./eval.js";

/** Most seconds: a longer benchmark is a mistake. */
const MAX_SECONDS = 3_600;
/** Most requests at a time: more than a server admits. */
const MAX_CONCURRENCY = 1_024;

/** Adds `bench`. */
export const addBench: AddCommand = (program, { io, done }) => {
  const bench = program
    .command("bench")
    .description(
      "measure what a policy takes: time, cost of expressions, members of a group; in this process, without HTTP",
    );
  addQuestionOptions(bench)
    .argument("[policy]", "id of the policy, group or <group>/<member>, or a module, a YAML file, an address")
    .option("--seconds <number>", "how long to measure", positive(MAX_SECONDS), 2)
    .option("--concurrency <number>", "questions under way at a time", whole(MAX_CONCURRENCY), 1)
    .option("-o, --output <text|json>", "how the figures are printed", "text");
  addCertificateRequestOptions(bench);
  withExamples(bench, [
    ["policy-server bench workloads --object pod.yaml", "a group, with the share of each member"],
    ["policy-server bench ./policy.wasm --object pod.yaml --seconds 10", "a module, for longer"],
    ["policy-server bench replica-limit --object manifests/ -o json", "about many objects in turns, for a program"],
  ]);
  withOptions(bench, LOADING_OPTIONS).action(async (asked: string | undefined) => {
    const { benchCommand } = await import("../bench/index.js");
    done(await benchCommand(asked, bench.opts(), settingsOf(bench, io), io));
  });
};

const positive =
  (most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`'${text}' is not a number above 0 and up to ${most}`);
  };

const whole =
  (most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`'${text}' is not a whole number from 1 to ${most}`);
  };
