import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { FetchError, fetchFailureText } from "../../src/fetch/fetch-error.js";
import { createModuleFetcher, type ModuleFetcher, type ModuleFetcherOptions } from "../../src/fetch/module-fetcher.js";
import { SignatureChecks } from "../../src/fetch/signatures/signature-checks.js";
import type { TrustRoot } from "../../src/fetch/signatures/trust-root.js";

/** A file that starts like a module. */
export const WASM = Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), Buffer.from("test")]);

/** A folder that is gone after the test, with files in it; those named `docker-credential-…` can be run. */
export function folder(context: TestContext, files: Readonly<Record<string, string | Buffer>> = {}): string {
  const root = mkdtempSync(join(tmpdir(), "fetch-"));
  context.after(() => rmSync(root, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
    if (name.includes("docker-credential-")) chmodSync(join(root, name), 0o755);
  }
  return root;
}

/** A fetcher that also reads what it has fetched. */
export interface ReadingFetcher extends ModuleFetcher {
  fetch(location: string): Promise<{ readonly bytes: Uint8Array; readonly digest: string }>;
}

/** A fetcher without proxies or credentials of this machine, closed after the test. */
export function fetcher(context: TestContext, options: Partial<ModuleFetcherOptions> = {}): ReadingFetcher {
  const made = createModuleFetcher({
    downloadDirectory: options.downloadDirectory ?? folder(context),
    environment: { HOME: "/nonexistent" },
    ...options,
  });
  context.after(() => made.close());
  const fetch: ReadingFetcher["fetch"] = async (location) => {
    const { read, digest } = await made.file(location);
    return { bytes: await read(), digest };
  };
  return Object.assign(made, { fetch });
}

/** Checks of signatures against a trust root, by the real clock. */
export function checksWith(trustRoot: TrustRoot): SignatureChecks {
  return new SignatureChecks(trustRoot, () => performance.now());
}

/** The whole text of a failure that must come. */
export async function failureOf(promise: Promise<unknown>, id = "p", module = "M"): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof FetchError, String(error));
    return fetchFailureText(id, module, error);
  }
  assert.fail("nothing failed");
}

/** sources.yml's effect for hosts without TLS. */
export function insecure(...hosts: string[]) {
  return { insecure: new Set(hosts), authorities: new Map<string, readonly string[]>() };
}
