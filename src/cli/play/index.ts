/** `play`: a server for one person, with the page that takes drafts. */
import { existsSync } from "node:fs";
import { serveCommand } from "../../serving/index.js";
import { type CommandIo, UsageError } from "../io.js";
import { SERVE_OPTIONS } from "../option-definitions.js";
import { camelCase } from "../options.js";
import { openBrowser } from "./browser.js";
import { freePort } from "./free-port.js";

/** Nobody else's machine reaches it. */
const ADDRESS = "127.0.0.1";
/** What `serve` listens on, too. */
const FIRST_PORT = 3000;

/** As given on the command line. */
export interface PlayOptions {
  readonly file: string | undefined;
  readonly port: string | undefined;
  readonly open: boolean;
}

/**
 * Serves until it is stopped.
 * @param values options that policies are loaded with
 * @returns as `serve`
 * @throws UsageError
 */
export async function playCommand(
  { file, port, open }: PlayOptions,
  values: Readonly<Record<string, unknown>>,
  io: CommandIo,
): Promise<number> {
  if (file !== undefined && !existsSync(file))
    throw new UsageError(`${file} is not there: leave it out to begin without policies`);
  const own = {
    ...serveDefaults(),
    ...values,
    ...{ addr: ADDRESS, port: await portOf(port), readinessProbePort: 0, workers: 1, page: "play" },
    ...{
      drainDelay: 0,
      drainGrace: 0,
      kubernetes: false,
      fileOptional: true,
      ...(file !== undefined && { policies: file }),
    },
  };
  return serveCommand(own, io, (bound) => {
    const address = `http://localhost:${bound}/`;
    io.stdout.write(`The page is at ${address}\nWhat you change in the files is taken over; Ctrl-C ends it.\n`);
    if (open) openBrowser(address);
  });
}

/** What `serve` has where nobody says anything; the environment is for servers. */
function serveDefaults(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(SERVE_OPTIONS.map((option) => [camelCase(option.flag), option.default]));
}

async function portOf(written: string | undefined): Promise<number> {
  if (written === undefined) return freePort(ADDRESS, FIRST_PORT);
  const port = Number(written);
  if (!/^\d{1,5}$/.test(written) || port > 65_535)
    throw new UsageError(`--port: expected a port from 0 to 65535, found '${written}'`);
  return port;
}
