/** `serve`, the default on the command line. */

import { say, UsageError } from "../../data/command-io.js";
import { openFilesProblem } from "../../serving/open-files.js";
import { type AddCommand, withExamples, withOptions } from "../definition.js";
import { SERVE_OPTIONS } from "../option-definitions.js";
import { optionValues } from "../options.js";
import { unknownCommand } from "../unknown-words.js";

/** Adds `serve`. */
export const addServe: AddCommand = (program, { io, done, whole }) => {
  const serve = program
    .command("serve", { isDefault: true })
    .description("serve policies over HTTP (the default)")
    .usage("[options]");
  withOptions(serve, SERVE_OPTIONS)
    .argument("[command...]")
    .action(async ([unknown]: readonly string[]) => {
      if (unknown !== undefined) throw new UsageError(unknownCommand(unknown, whole()));
      // Loading the following modules opens many files.
      const few = openFilesProblem();
      if (few?.fatal) {
        say(io.stderr, `Error: ${few.message}`);
        return done(1);
      }
      const [{ serveCommand }, { serveSettings }] = await Promise.all([
        import("../../serving/index.js"),
        import("../serve-settings.js"),
      ]);
      done(await serveCommand(serveSettings(optionValues(serve, SERVE_OPTIONS, io.env), io.env), io));
    });
  withExamples(serve, [
    ["policy-server", "serve the policies of policies.yaml in this folder on port 3000"],
    ["policy-server --policies gateway.yaml --addr 127.0.0.1 --port 8080", "serve other policies to this machine only"],
    [
      "policy-server --cert-file tls.crt --key-file tls.key --strict",
      "serve over TLS, and only when every policy can be loaded",
    ],
  ]);
};
