/** Identities from files that are replaced while we run, such as a pod's token. */
import { readFile } from "node:fs/promises";
import type { Identity, IdentitySource } from "./connection.js";
import { ClusterConfigError, reasonOf } from "./errors.js";
import { CREDENTIAL_FILES_MS } from "./limits.js";

/** The file of each part of an identity. */
export interface IdentityFiles {
  readonly token?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Reads files again every minute, and at once when the server refuses the identity.
 * @param fixed the parts that do not come from files
 * @param now monotonic milliseconds
 */
export function fileIdentity(files: IdentityFiles, fixed: Identity, now: () => number): IdentitySource {
  let read: { readonly at: number; readonly identity: Promise<Identity> } | undefined;
  return {
    identity() {
      const at = now();
      if (read === undefined || at - read.at >= CREDENTIAL_FILES_MS) {
        const before = read?.identity;
        // While a file is being replaced it may be missing for a moment: then the former contents are used.
        const identity = before === undefined ? load(files, fixed) : load(files, fixed).catch(() => before);
        read = { at, identity };
        identity.catch(() => {
          read = undefined;
        });
      }
      return read.identity;
    },
    refused() {
      read = undefined;
    },
  };
}

async function load({ token, ca, cert, key }: IdentityFiles, fixed: Identity): Promise<Identity> {
  const [tokenText, caText, certText, keyText] = await Promise.all([token, ca, cert, key].map(textOf));
  return {
    ...fixed,
    ...(tokenText !== undefined && { authorization: `Bearer ${tokenText.trim()}` }),
    ...(caText !== undefined && { ca: caText }),
    ...(certText !== undefined && { cert: certText }),
    ...(keyText !== undefined && { key: keyText }),
  };
}

async function textOf(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new ClusterConfigError(`cannot read ${file}: ${reasonOf(cause)}`, { cause });
  }
}
