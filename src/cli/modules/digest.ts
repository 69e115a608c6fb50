/** `digest`: prints the immutable name of an artifact. */

import type { CommandIo } from "../../data/command-io.js";
import { DOWNLOAD_TIMEOUT_MS } from "../../fetch/index.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { withRegistries } from "./access.js";
import { registryAddress } from "./address.js";

/** Prints `host/repository@sha256:…`. @returns the exit code */
export async function digestCommand(address: string, settings: LoaderSettings, io: CommandIo): Promise<number> {
  const image = registryAddress(address, "only registries have digests of manifests");
  const { digest } = await withRegistries(settings, address, ({ registry }) =>
    registry.manifest(image, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)),
  );
  io.stdout.write(`${image.host}/${image.repository}@${digest}\n`);
  return 0;
}
