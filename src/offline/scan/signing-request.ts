/** CertificateRequests made of certification requests (CSRs) in files, as a user would make them in a cluster (spec certificate-request-policy.md 7.5). */
import { basename } from "node:path";
import type { JsonObject } from "../../kubernetes/object.js";
import { MalformedRequest } from "../../x509/pkcs10/index.js";
import { isPemOrDer, requestPem } from "../../x509/pkcs10/request-file.js";
import { beginningOf, type InputFile } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/** Fields of a CertificateRequest beside the CSR. */
export interface CertificateRequestParts {
  /** Default: `default`. */
  readonly namespace?: string | undefined;
  /** Its name; default: that of the file, without the ending. */
  readonly requestName?: string;
  /** The issuer; absent parts have cert-manager's default. */
  readonly issuer?: { readonly name: string; readonly kind?: string; readonly group?: string };
  readonly usages?: readonly string[];
  /** A duration in Go's format. */
  readonly duration?: string;
  readonly isCa?: boolean;
  /** The requester. */
  readonly username?: string;
  /** Default: those that an API server gives to the user. */
  readonly groups?: readonly string[];
}

/** Most bytes of a file: thirty times cert-manager's limit, and less than most files that are named by mistake. */
const LARGEST_FILE = 1024 * 1024;
/** Endings of files with a CSR; others are recognised by their beginning. */
const ENDING = /\.(?:csr|pem|der)$/i;
/** Endings of files without a CSR, which need not be opened. */
const OTHER_ENDING = /\.(?:ya?ml|json|jsonl|ndjson)$/i;
/** First bytes by which files are recognised. */
const HEAD_BYTES = 16;
const STANDARD_INPUT = "-";

/**
 * Makes the CertificateRequest.
 * @param content PEM or DER
 * @param file its file; `-`: standard input
 * @throws ScanError for a file without a CSR, and for groups without a user
 */
export function certificateRequestOf(content: Buffer, file: string, parts: CertificateRequestParts): JsonObject {
  const pem = content.length > LARGEST_FILE ? new MalformedRequest("it is too large") : requestPem(content);
  const shown = file === STANDARD_INPUT ? "standard input" : file;
  if (pem instanceof MalformedRequest) throw new ScanError(`${shown} holds no CSR: ${pem.message}`);
  const { namespace = "default", requestName, issuer, usages, duration, isCa, username, groups } = parts;
  if (groups !== undefined && username === undefined)
    throw new ScanError(`whose groups are ${groups.join(", ")}? Say the username as well`);
  const name = file === STANDARD_INPUT ? "csr" : basename(file).replace(/(?<=.)\.[^.]*$/, "");
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "CertificateRequest",
    metadata: { name: requestName ?? name, namespace },
    spec: {
      request: pem.toString("base64"),
      issuerRef: issuer ?? { name: "" },
      ...(usages && { usages }),
      ...(duration !== undefined && { duration }),
      ...(isCa && { isCA: true }),
      ...(username !== undefined && { username, groups: groups ?? usualGroups(username) }),
    },
  };
}

/** The groups that an API server adds to an authenticated user's own. */
function usualGroups(username: string): readonly string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? [];
  const accounts = namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return [...accounts, "system:authenticated"];
}

/**
 * Files of resources, with a CertificateRequest in place of each CSR.
 * @returns also their number
 * @throws ScanError for a file with a CSR's ending but without one, and for two whose requests would have the same name
 */
export async function withCertificateRequests(
  files: readonly InputFile[],
  parts: CertificateRequestParts,
): Promise<{ readonly files: readonly InputFile[]; readonly made: number }> {
  const names = new Map<string, string>();
  const all: InputFile[] = [];
  for (const file of files) {
    if (!(await holdsSigningRequest(file))) {
      all.push(file);
      continue;
    }
    const request = certificateRequestOf(await beginningOf(file, LARGEST_FILE + 1), file.name, parts);
    const { name } = request.metadata as { readonly name: string };
    const earlier = names.get(name);
    if (earlier !== undefined)
      throw new ScanError(
        `${earlier} and ${file.name} would both be the CertificateRequest ${name}: two files need two names`,
      );
    names.set(name, file.name);
    all.push(fileOf(file, JSON.stringify(request)));
  }
  return { files: all, made: names.size };
}

const holdsSigningRequest = async (file: InputFile): Promise<boolean> =>
  ENDING.test(file.name) || (!OTHER_ENDING.test(file.name) && isPemOrDer(await beginningOf(file, HEAD_BYTES)));

const fileOf = ({ name, given, inFolder }: InputFile, content: string): InputFile => {
  const bytes = Buffer.from(content);
  return {
    name,
    given,
    inFolder,
    bytes: bytes.length,
    async *read() {
      yield bytes;
    },
  };
};
