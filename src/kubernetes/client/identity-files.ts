/** Identities made of files that are replaced while we run, such as a pod's token. */
import { readFile } from "node:fs/promises";
import type { Identity } from "./connection.js";
import { ClusterConfigError, reasonOf } from "./errors.js";
import { CREDENTIAL_FILES_MS } from "./limits.js";

/** Which part of an identity comes from which file. */
export interface IdentityFiles {
  readonly token?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Reads files again every minute, and at once when the server refuses what they said. */
export class FileIdentity {
  readonly #files: IdentityFiles;
  readonly #fixed: Identity;
  readonly #now: () => number;

  #read: { readonly at: number; readonly identity: Promise<Identity> } | undefined;

  /**
   * @param fixed the parts that no file brings
   * @param now monotonic milliseconds
   */
  constructor(files: IdentityFiles, fixed: Identity, now: () => number) {
    this.#files = files;
    this.#fixed = fixed;
    this.#now = now;
  }

  identity(): Promise<Identity> {
    const at = this.#now();
    if (this.#read === undefined || at - this.#read.at >= CREDENTIAL_FILES_MS) {
      const before = this.#read?.identity;
      // While a file is being replaced it may be missing for a moment: what was read before still holds.
      const identity = before === undefined ? this.#load() : this.#load().catch(() => before);
      this.#read = { at, identity };
      identity.catch(() => {
        this.#read = undefined;
      });
    }
    return this.#read.identity;
  }

  refused(): void {
    this.#read = undefined;
  }

  async #load(): Promise<Identity> {
    const { token, ca, cert, key } = this.#files;
    const [tokenText, caText, certText, keyText] = await Promise.all([token, ca, cert, key].map(textOf));
    return {
      ...this.#fixed,
      ...(tokenText !== undefined && { authorization: `Bearer ${tokenText.trim()}` }),
      ...(caText !== undefined && { ca: caText }),
      ...(certText !== undefined && { cert: certText }),
      ...(keyText !== undefined && { key: keyText }),
    };
  }
}

async function textOf(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new ClusterConfigError(`cannot read ${file}: ${reasonOf(cause)}`, { cause });
  }
}
