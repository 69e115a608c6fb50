/** `push`: uploads a module to a registry. */

import { readFile, stat } from "node:fs/promises";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { fileProblem } from "../../data/file-problem.js";
import { moduleArtifact, UPLOAD_TIMEOUT_MS } from "../../fetch/index.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { describeNonModule, readMetadataOfBytes } from "../../wasm/index.js";
import { withRegistries } from "./access.js";
import { registryAddress } from "./address.js";

/** The first bytes of a core module: its magic number, and version 1. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00] as const;

/** The reason why bytes are not a WebAssembly module, by their beginning; undefined when they begin as one. */
export function moduleProblem(bytes: Uint8Array): string | undefined {
  return HEADER.every((byte, index) => bytes[index] === byte) ? undefined : describeNonModule(bytes);
}

/** Options of `push` alone. */
export interface PushOptions {
  readonly force?: true;
  readonly output: "text" | "json";
}

/**
 * Pushes a module with the annotations of its metadata, as kwctl does.
 * @returns the exit code
 * @throws UsageError for a file that is not a module
 */
export async function pushCommand(
  file: string,
  address: string,
  { force, output }: PushOptions,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  const image = registryAddress(address, "modules are pushed to registries");
  if (image.digest !== undefined)
    throw new UsageError(
      `${address}: what is pushed makes its own digest: push to a tag, such as ${image.host}/${image.repository}:v1`,
    );
  const bytes = await moduleFile(file);
  const annotations = annotationsOf(bytes, file, force === true, io);
  const artifact = moduleArtifact(bytes, annotations);
  const digest = await withRegistries(settings, address, ({ writer }) =>
    writer.push(image, artifact, AbortSignal.timeout(UPLOAD_TIMEOUT_MS)),
  );
  const reference = `${image.host}/${image.repository}@${digest}`;
  io.stdout.write(`${output === "json" ? JSON.stringify({ immutable_ref: reference }) : reference}\n`);
  return 0;
}

async function moduleFile(file: string): Promise<Buffer> {
  let bytes: Buffer;
  try {
    if ((await stat(file)).isDirectory())
      throw new UsageError(`${file} is a folder: expected a module, such as policy.wasm`);
    bytes = await readFile(file);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${file}: ${fileProblem(cause)}`);
  }
  const problem = moduleProblem(bytes);
  if (problem !== undefined) throw new UsageError(`${file} is not a WebAssembly module: ${problem}`);
  return bytes;
}

/** Annotations from a module's metadata, checked: invalid metadata would make each load of the policy fail. */
function annotationsOf(
  bytes: Uint8Array,
  file: string,
  force: boolean,
  io: CommandIo,
): Readonly<Record<string, string>> {
  try {
    const metadata = readMetadataOfBytes(bytes);
    if (metadata === undefined)
      say(
        io.stderr,
        `note: ${file} has no Kubewarden metadata, so the artifact gets no annotations, and Kubewarden's own server would refuse it`,
      );
    return metadata?.annotations ?? {};
  } catch (cause) {
    if (!force) throw new UsageError(`${file}: ${errorText(cause)} (--force pushes it all the same)`);
    return {};
  }
}
