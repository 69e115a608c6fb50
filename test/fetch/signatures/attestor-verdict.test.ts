/** Verdicts of cosign attestors: those of the real cosign about the golden images, and what an attestor may say. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CosignAttestor, Sought } from "../../../src/fetch/signatures/attestor.js";
import { golden, goldenFile, verdictOf } from "./golden-images.js";

interface Check {
  readonly with: string;
  readonly verifies: boolean;
}
interface Golden {
  readonly name: string;
  readonly digest: string;
  readonly checks: readonly Check[];
}

/** The flags of cosign that have no value. */
const PLAIN = new Set(["--insecure-ignore-tlog", "--insecure-ignore-sct", "--use-signed-timestamps"]);

/** Where the verdict is another than cosign's, and why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  "team/app:attested-only verify --key keys/cosign.pub": "an attestation is not a signature",
  "team/app:legacy-referrer verify --experimental-oci11 --key keys/cosign.pub": "the mode is experimental",
  "team/app:split-forms verify --key keys/cosign.pub -a env=prod": "signatures count in layers and in bundles",
  "team/app:two-signers verify --key keys/other.pub": "signatures count in layers and in bundles",
  "team/app:bundle-certificate-two-names verify --trusted-root trusted-root-own.json --insecure-ignore-sct --certificate-oidc-issuer-regexp .* --certificate-identity builder@example.org":
    "each of a certificate's names counts",
};

/** The attestor of a command. */
function attestorOf(command: string): { readonly cosign: CosignAttestor; readonly sought: Sought } {
  const [verb = "", ...words] = command.split(" ");
  const flags = new Map<string, string>();
  const annotations: Record<string, string> = {};
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word.includes("=") || PLAIN.has(word)) flags.set(word, "");
    else if (word !== "-a") flags.set(word, words[++i]!);
    else {
      const [name = "", value = ""] = words[++i]!.split("=");
      annotations[name] = value;
    }
  }
  const file = (flag: string) => (flags.has(flag) ? goldenFile(flags.get(flag)!) : undefined);
  const data = file("--key");
  const cert = file("--certificate");
  const certChain = file("--certificate-chain");
  const extensions = ["Trigger", "Sha", "Name", "Repository", "Ref"].flatMap((name) => {
    const value = flags.get(`--certificate-github-workflow-${name.toLowerCase()}`);
    return value === undefined ? [] : [[`githubWorkflow${name}`, value]];
  });
  const identity = Object.fromEntries(
    Object.entries({
      subject: "--certificate-identity",
      subjectRegExp: "--certificate-identity-regexp",
      issuer: "--certificate-oidc-issuer",
      issuerRegExp: "--certificate-oidc-issuer-regexp",
    }).flatMap(([name, flag]) => (flags.has(flag) ? [[name, flags.get(flag)!]] : [])),
  );
  const keyless = {
    identities: [identity],
    additionalExtensions: Object.fromEntries(extensions),
    ...(certChain !== undefined && { roots: certChain }),
  };
  const hashAlgorithm = flags.get("--signature-digest-algorithm");
  const tsaCertChain = file("--timestamp-certificate-chain");
  const trustedRoot = file("--trusted-root");
  const [, repository] = verb.split("@");
  const cosign: CosignAttestor = {
    ...(data !== undefined && { key: { data, ...(hashAlgorithm !== undefined && { hashAlgorithm }) } }),
    ...(cert !== undefined && { certificate: { cert, ...(certChain !== undefined && { certChain }) } }),
    ...(data === undefined && cert === undefined && { keyless }),
    ...(repository !== undefined && { source: { repository } }),
    ...(trustedRoot !== undefined && { trustedRoot }),
    annotations,
    ctlog: {
      insecureIgnoreTlog: flags.has("--insecure-ignore-tlog"),
      insecureIgnoreSCT: flags.has("--insecure-ignore-sct"),
      ...(tsaCertChain !== undefined && { tsaCertChain }),
    },
  };
  const predicateType = flags.get("--type") ?? "custom";
  return {
    cosign,
    sought: verb.startsWith("verify-attestation") ? { kind: "intoto", predicateType } : { kind: "signature" },
  };
}

describe("verdicts about images are cosign's", () => {
  const images: readonly Golden[] = JSON.parse(goldenFile("verdicts.json"));
  for (const { name, digest, checks } of images) {
    // The command finds no bundles of old versions and of messages in registries; it verifies them as files, though.
    const isFile = checks.some((check) => check.with.startsWith("bundle"));
    // The certificate of these has expired since cosign was asked.
    if (name.endsWith("keyless-notime")) continue;
    const own = checks.filter((check) => check.with.startsWith(isFile ? "bundle" : "verify"));
    if (own.length === 0) continue;
    test(name, async () => {
      const [host = "", ...path] = `localhost:5055/${name.split(":")[0]}`.split("/");
      const about = { image: { host, repository: path.join("/") }, digest };
      for (const check of own) {
        const { cosign, sought } = attestorOf(check.with);
        const { verified, reasons, payload } = await verdictOf(cosign, about, golden, sought);
        const isSame = DIFFERENT[`${name} ${check.with}`] === undefined;
        assert.equal(verified, check.verifies === isSame, `${check.with}: ${reasons.join("; ")}`);
        assert.equal(reasons.length > 0, !verified);
        assert.equal(payload !== undefined, verified && sought.kind === "intoto");
      }
    });
  }
});
