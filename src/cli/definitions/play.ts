/** `play` on the command line. */
import { type AddCommand, withExamples, withOptions } from "../definition.js";
import type { OptionDefinition } from "../option-definition.js";
import { SERVE_OPTIONS } from "../option-definitions.js";
import { optionValues } from "../options.js";

/** Options with another default or meaning than for a server. */
const OTHERWISE: Readonly<Record<string, Partial<OptionDefinition>>> = {
  "log-level": { default: "warn" },
  kubeconfig: {
    description: "kubeconfig of the cluster that served policies look things up in; without it none is asked",
  },
};

/** Options of `serve` that are useful for one person; all others have their defaults. */
const PLAY_OPTIONS: readonly OptionDefinition[] = SERVE_OPTIONS.filter(({ flag }) =>
  [
    "policy-timeout",
    "policies-download-dir",
    "sources-path",
    "verification-path",
    "docker-config-json-path",
    "sigstore-cache-dir",
    "sigstore-trust-config",
    "kubeconfig",
    "http-blocklist",
    "http-allowlist",
    "log-level",
  ].includes(flag),
).map((option) => ({ ...option, ...OTHERWISE[option.flag] }));

/** Adds `play`. */
export const addPlay: AddCommand = (program, { io, done }) => {
  const play = program
    .command("play")
    .description("open policies, and drafts of new ones, in the browser: on this machine only")
    .argument("[file]", "the policies file; without it policies.yaml, or policies.yml, or none")
    .option("--port <number>", "port of the page; without it 3000, or the next one that is free")
    .option("--open", "open the browser");
  withOptions(play, PLAY_OPTIONS).action(async (file: string | undefined) => {
    const { port, open } = play.opts<{ port?: string; open?: true }>();
    const { playCommand } = await import("../play/index.js");
    const values = optionValues(play, PLAY_OPTIONS, io.env);
    done(await playCommand({ file, port, open: open === true }, values, io));
  });
  withExamples(play, [
    ["policy-server play", "the policies of this folder, or examples"],
    ["policy-server play policies.yaml --open", "a file of policies, with the browser opened"],
    ["policy-server play --port 8080", "on a port of your own"],
  ]);
};
