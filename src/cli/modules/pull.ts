/** `pull`: downloads a module to the server's folder, or to a file. */

import { stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ModuleAddress } from "../../config/module-address.js";
import { isPluginManifest } from "../../config/plugin-manifest/read.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { fileProblem } from "../../data/file-problem.js";
import { createModuleFetcher, imageVerifier, modulePath, withoutSecrets } from "../../fetch/index.js";
import { fetchOptions } from "../../loader/fetch-options.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { withAdvice } from "./access.js";
import { typedAddress } from "./address.js";
import { sizeText } from "./kept-modules.js";
import type { VerificationFlags } from "./options.js";
import { moduleProblem } from "./push.js";
import { flaggedSignatures } from "./verification-flags.js";

/** Options of `pull` alone. */
export interface PullOptions extends VerificationFlags {
  /** A file or folder in place of the download folder. */
  readonly destination?: string | undefined;
}

/**
 * Pulls a module from the registry, even if one of this name is in the download folder, and prints the path of its file.
 * @returns the exit code
 */
export async function pullCommand(
  text: string,
  options: PullOptions,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  const address = typedAddress(text);
  const shown = withoutSecrets(text);
  if (address.kind === "file")
    throw new UsageError(
      `${text} is a file of this machine: expected the address of a module, such as registry://ghcr.io/acme/policy:v1`,
    );
  const {
    verifier: configured,
    signatures,
    ...how
  } = fetchOptions(settings, (message) => say(io.stderr, `warning: ${message}`));
  const flagged = flaggedSignatures(options);
  const verifier =
    flagged === undefined
      ? configured
      : (registry: Parameters<NonNullable<typeof configured>>[0]) => imageVerifier(flagged, registry, signatures);
  const fetcher = createModuleFetcher({ ...how, refresh: true, ...(verifier && { verifier }) });
  try {
    const { digest, read } = await withAdvice(shown, () => fetcher.file(address.location));
    const bytes = await read();
    const problem = isPluginManifest(bytes, address.location) ? undefined : moduleProblem(bytes);
    if (problem !== undefined) throw new Error(`${shown} leads to no WebAssembly module: ${problem}`);
    const path = await keptAt(address, bytes, options.destination, settings.downloadDirectory ?? ".");
    say(
      io.stderr,
      `pulled ${shown}: ${sizeText(bytes.length)}, ${digest}${verifier === undefined ? "" : ", signatures verified"}`,
    );
    io.stdout.write(`${path}\n`);
    return 0;
  } finally {
    await fetcher.close();
  }
}

async function keptAt(
  address: ModuleAddress,
  bytes: Uint8Array,
  output: string | undefined,
  folder: string,
): Promise<string> {
  if (output === undefined) {
    const path = modulePath(folder, address.location);
    if ((await stat(path).catch(() => undefined)) !== undefined) return path;
    throw new UsageError(
      `nothing is kept in ${folder} (only modules are, where the folder can be written): name a file with -d`,
    );
  }
  const isFolder = /[/\\]$/.test(output) || (await stat(output).catch(() => undefined))?.isDirectory() === true;
  const path = isFolder ? join(output, fileName(address)) : output;
  try {
    await writeFile(path, bytes);
  } catch (cause) {
    throw new UsageError(`cannot write ${path}: ${fileProblem(cause)}`);
  }
  return path;
}

/** The file name of a module: `pod-privileged_v1.wasm` for `registry://…/pod-privileged:v1`. */
function fileName({ location, kind }: ModuleAddress): string {
  const last = basename(kind === "http" ? new URL(location).pathname : location.replace(/@.*$/, "")).replace(":", "_");
  return /\.(?:wasm|json|toml)$/.test(last) ? last : `${last || "module"}.wasm`;
}
