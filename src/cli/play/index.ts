/** `play`: a server for one user, with the page that accepts drafts. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { type CommandIo, UsageError } from "../../data/command-io.js";
import { serveCommand } from "../../serving/index.js";
import type { OptionValues } from "../options.js";
import { serveSettings } from "../serve-settings.js";

/** Most ports that are tried, one after the other. */
const TRIED = 20;

/** The first free port from `first` on; 0, which means any, when many of them are taken. Another process may take it before it is used. */
export async function freePort(address: string, first: number): Promise<number> {
  for (let port = first; port < first + TRIED; port++) if (await isFree(address, port)) return port;
  return 0;
}

function isFree(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens the browser, if there is one: the address is printed anyway. */
function openBrowser(address: string): void {
  const [command = "xdg-open", ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}

/** The address, which other machines can't reach. */
const ADDRESS = "127.0.0.1";
/** The first port to try, the default of `serve`. */
const FIRST_PORT = 3000;

/** Options of the command line. */
export interface PlayOptions {
  readonly file: string | undefined;
  readonly port: string | undefined;
  readonly open: boolean;
}

/**
 * Serves until it is stopped.
 * @param values options for loading policies
 * @returns as `serve`
 * @throws UsageError
 */
export async function playCommand(
  { file, port, open }: PlayOptions,
  values: OptionValues,
  io: CommandIo,
): Promise<number> {
  if (file !== undefined && !existsSync(file))
    throw new UsageError(`${file} is not there: leave it out to begin without policies`);
  // The environment does not set other options either: those are for servers.
  const settings = serveSettings(
    {
      ...{ ...values, policies: file, kubernetes: false },
      ...{ addr: ADDRESS, port: await portOf(port), readinessProbePort: 0, workers: 1, page: "play" },
      ...{ drainDelay: 0, drainGrace: 0 },
    },
    io.env,
  );
  const optional = { ...settings, loading: { ...settings.loading, fileOptional: true } };
  return serveCommand(optional, io, (bound) => {
    const address = `http://localhost:${bound}/`;
    io.stdout.write(`The page is at ${address}\nWhat you change in the files is taken over; Ctrl-C ends it.\n`);
    if (open) openBrowser(address);
  });
}

async function portOf(written: string | undefined): Promise<number> {
  if (written === undefined) return freePort(ADDRESS, FIRST_PORT);
  const port = Number(written);
  if (!/^\d{1,5}$/.test(written) || port > 65_535)
    throw new UsageError(`--port: expected a port from 0 to 65535, found '${written}'`);
  return port;
}
