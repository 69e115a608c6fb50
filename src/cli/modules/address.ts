/** Addresses of modules on the command line. */
import { join } from "node:path";
import { type ModuleAddress, parseModuleAddress } from "../../config/module-address.js";
import { UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { type ImageReference, parseImageReference, withoutSecrets } from "../../fetch/index.js";

/** Parses an address; relative paths start in this folder. @throws UsageError */
export function typedAddress(text: string): ModuleAddress {
  const address = parseModuleAddress(text, join(process.cwd(), "command"));
  if ("mistake" in address) throw new UsageError(address.mistake);
  if (address.kind === "registry") imageOf(address);
  return address;
}

/** Parses an address in a registry. @throws UsageError */
export function registryAddress(text: string, purpose: string): ImageReference {
  const address = typedAddress(text);
  if (address.kind === "registry") return imageOf(address);
  throw new UsageError(
    `${withoutSecrets(text)} is not an address in a registry, and ${purpose}: expected one such as registry://ghcr.io/acme/policy:v1`,
  );
}

function imageOf({ location }: ModuleAddress): ImageReference {
  try {
    return parseImageReference(location.slice("registry://".length));
  } catch (cause) {
    throw new UsageError(errorText(cause));
  }
}
