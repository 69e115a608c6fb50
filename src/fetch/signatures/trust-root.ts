/** Sigstore's trust root: its certificate authorities and logs, from a file or from the public repository (spec kubewarden.md 1.8). */
import type { TrustMaterial } from "@sigstore/verify";
import { ConfigFileError, ConfigFiles } from "../../config/config-files.js";
import { parsePlainJson } from "../../data/json.js";
import { FetchError, reasonOf } from "../fetch-error.js";

/** Time for one request to the repository of the trust root, in milliseconds. */
const TUF_TIMEOUT_MS = 10_000;

/**
 * The trust root, loaded at first use and kept. A failure is an error of its user: nothing passes unverified.
 * @throws FetchError with stage `verify`
 */
export type TrustRoot = () => Promise<TrustMaterial>;

/** Sources of the trust root. */
export interface TrustRootOptions {
  /** A client trust configuration in JSON (`--sigstore-trust-config`); its `trustedRoot` replaces the public one. */
  readonly trustConfig?: string;
  /** Folder for the public root (`--sigstore-cache-dir`). */
  readonly cacheDirectory: string;
  /** Address of the repository; default Sigstore's. */
  readonly mirror?: string;
}

/** Creates a trust root. Sigstore's libraries are loaded at first use. Failures are not kept, so that a later use tries again. */
export function sigstoreTrustRoot(options: TrustRootOptions): TrustRoot {
  let kept: Promise<TrustMaterial> | undefined;
  return () => {
    kept ??= load(options).catch((cause: unknown) => {
      kept = undefined;
      const shown = "the Sigstore trust root can't be had";
      throw new FetchError(`${shown}: ${reasonOf(cause)}`, { stage: "verify", cause, shown });
    });
    return kept;
  };
}

async function load({ trustConfig, cacheDirectory, mirror }: TrustRootOptions): Promise<TrustMaterial> {
  const { toTrustMaterial } = await import("@sigstore/verify");
  if (trustConfig === undefined) {
    const { getTrustedRoot } = await import("@sigstore/tuf");
    return toTrustMaterial(
      await getTrustedRoot({
        cachePath: cacheDirectory,
        timeout: TUF_TIMEOUT_MS,
        ...(mirror !== undefined && { mirrorURL: mirror }),
      }),
    );
  }
  const { TrustedRoot } = await import("@sigstore/protobuf-specs");
  return toTrustMaterial(TrustedRoot.fromJSON(readTrustConfig(trustConfig)));
}

/**
 * The `trustedRoot` of a client trust configuration. Read at the start, so that an unusable file is an error at once, not only when a signature is to
 * be verified.
 * @throws ConfigFileError
 */
export function readTrustConfig(path: string): unknown {
  const unusable = (reason: string) =>
    new ConfigFileError(`error while loading the Sigstore trust configuration from ${path}: ${reason}`);
  let content: unknown;
  try {
    content = parsePlainJson(new ConfigFiles().read(path));
  } catch (cause) {
    throw unusable(cause instanceof ConfigFileError ? cause.message : "it is not JSON");
  }
  if (typeof content !== "object" || content === null || !("trustedRoot" in content))
    throw unusable("it has no trustedRoot");
  return content.trustedRoot;
}
