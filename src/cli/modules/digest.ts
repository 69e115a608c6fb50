/** `digest`: the name under which an artifact never changes. */
import { DOWNLOAD_TIMEOUT_MS } from "../../fetch/index.js";
import type { CommandIo } from "../io.js";
import { withRegistries } from "./access.js";
import { registryAddress } from "./address.js";

/** Prints `host/repository@sha256:…`. @returns the exit code */
export async function digestCommand(
  address: string,
  values: Readonly<Record<string, unknown>>,
  io: CommandIo,
): Promise<number> {
  const image = registryAddress(address, "only registries have digests of manifests");
  const { digest } = await withRegistries(values, io.env, address, ({ registry }) =>
    registry.manifest(image, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)),
  );
  io.stdout.write(`${image.host}/${image.repository}@${digest}\n`);
  return 0;
}
