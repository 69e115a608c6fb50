/** The checks of ImageValidatingPolicies when they are loaded: of what Kyverno takes and fails with at every image, or what is not served (spec kyverno.md 9). */
import { createPublicKey, X509Certificate } from "node:crypto";
import { CelError, compilePattern, walk } from "../../../cel/index.js";
import { parsePlainJson } from "../../../data/json.js";
import { didYouMean } from "../../../data/suggest.js";
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import { isObject } from "../../../kubernetes/object.js";
import { firstPemBlock } from "../../../x509/pem.js";
import type { Expression } from "../../shared/expressions/expression.js";
import type { PolicySpec, WrittenAttestor } from "../resource.js";

type Say = (path: FieldPath, text: string) => void;

/** The hashes that a key may sign; none: sha256. */
const HASHES = ["", "sha224", "sha256", "sha384", "sha512"];
/** The lists of images that are there beside the policy's own. */
const LISTS = ["containers", "initContainers", "ephemeralContainers"];

const gathered = (say: (say: Say) => void): FieldError[] => {
  const said: FieldError[] = [];
  say((path, text) => said.push({ path: ["spec", ...path], text }));
  return said;
};

/** The mistakes for which a policy is refused, beside those of its expressions and globs. */
export const imageMistakes = (spec: PolicySpec): FieldError[] =>
  gathered((refuse) => {
    const { attestors = [], attestations = [], credentials, evaluation } = spec;
    const mode = evaluation?.mode ?? "";
    if (!["", "Kubernetes", "JSON"].includes(mode))
      refuse(["evaluation", "mode"], `there is no mode ${quoted(mode)} of this kind: known are Kubernetes, JSON`);
    credentials?.providers?.forEach((provider, i) => {
      const instead = "give the server a Docker configuration (DOCKER_CONFIG) with the registry's credential helper";
      if (provider !== "default") refuse(["credentials", "providers", i], `${provider} is not served: ${instead}`);
    });
    for (const [list, named] of Object.entries({ attestors, attestations })) {
      const names = named.map(({ name = "" }) => name);
      names.forEach((name, i) => {
        if (name === "") refuse([list, i, "name"], "a name is needed: expressions use it");
        else if (names.indexOf(name) < i) refuse([list, i, "name"], `${quoted(name)} is there already`);
      });
    }
    attestors.forEach((attestor, i) => {
      attestorMistakes(attestor, (path, text) => refuse(["attestors", i, ...path], text));
    });
    attestations.forEach(({ intoto, referrer }, i) => {
      const path = ["attestations", i];
      if ((intoto === undefined) === (referrer === undefined)) refuse(path, "write one of intoto and referrer");
      else if (((intoto ?? referrer)?.type ?? "") === "")
        refuse([...path, intoto === undefined ? "referrer" : "intoto", "type"], "the type is empty");
    });
  });

function attestorMistakes({ cosign = {}, notary }: WrittenAttestor, refuse: Say): void {
  const { key, keyless, certificate, source, ctlog, trustedRoot, tuf } = cosign;
  const { data = "", kms = "", expression = "", hashAlgorithm = "" } = key ?? {};
  const signers = [key, keyless, certificate].filter((each) => each !== undefined).length;
  const unwritten = key !== undefined && kms === "" && (data === "") === (expression === "");
  const rules: readonly (readonly [wrong: boolean, place: string, text: string])[] = [
    [signers === 0 && notary === undefined, "cosign", "write one of key, keyless and certificate"],
    [signers > 1, "cosign", "write only one of key, keyless and certificate: others are attestors of their own"],
    [
      tuf !== undefined,
      "cosign.tuf",
      "not served: write trustedRoot, or start the server with --sigstore-trust-config",
    ],
    [(source?.PullSecrets ?? []).length > 0, "cosign.source.PullSecrets", "not served: use spec.credentials.secrets"],
    [kms !== "", "cosign.key.kms", "not served: write the public key into data (`cosign public-key --key …`)"],
    [unwritten, "cosign.key", "write one of data and expression"],
    [!HASHES.includes(hashAlgorithm), "cosign.key.hashAlgorithm", `known are${HASHES.join(", ").slice(1)}`],
    [
      certificate !== undefined && !certificate.cert && !certificate.certChain,
      "cosign.certificate",
      "write cert, certChain or both",
    ],
    [
      trustedRoot?.value !== undefined && !isTrustedRoot(trustedRoot.value),
      "cosign.trustedRoot.value",
      "it must be a trusted root of Sigstore in JSON (`cosign trusted-root create`)",
    ],
    [notary !== undefined && notary.certs === undefined, "notary", "write certs, the certificates of its authorities"],
  ];
  for (const [wrong, place, text] of rules) if (wrong) refuse(place.split("."), text);
  const certificates = {
    "notary.certs.value": notary?.certs?.value,
    "notary.tsaCerts.value": notary?.tsaCerts?.value,
    "cosign.certificate.cert.value": certificate?.cert?.value,
    "cosign.certificate.certChain.value": certificate?.certChain?.value,
    // Without a member of their own an empty text means none.
    "cosign.keyless.roots": keyless?.roots || undefined,
    "cosign.ctlog.tsaCertChain": ctlog?.tsaCertChain || undefined,
  };
  for (const [place, pem] of Object.entries(certificates)) checkCertificates(pem, place.split("."), refuse);
  const keys = {
    "cosign.key.data": data,
    "cosign.ctlog.rekorPubKey": ctlog?.rekorPubKey,
    "cosign.ctlog.ctLogPubKey": ctlog?.ctLogPubKey,
  };
  for (const [place, pem = ""] of Object.entries(keys)) if (pem !== "") checkPublicKey(pem, place.split("."), refuse);
  if (keyless?.identities?.length === 0)
    refuse(
      ["cosign", "keyless", "identities"],
      "there are none, and any signer would count: name an issuer and a subject",
    );
  keyless?.identities?.forEach((identity, i) => {
    const path = ["cosign", "keyless", "identities", i];
    const { subjectExpression = "", subjectRegExp = "" } = identity;
    if (Object.values(identity).every((value) => value === ""))
      refuse(path, "it names neither an issuer nor a subject");
    if (subjectExpression !== "" && subjectRegExp !== "")
      refuse([...path, "subjectExpression"], "write one of subjectExpression and subjectRegExp");
    for (const member of ["issuerRegExp", "subjectRegExp"] as const) {
      const pattern = compilePattern(identity[member] ?? "");
      if (pattern instanceof CelError) refuse([...path, member], pattern.message);
    }
  });
}

function checkPublicKey(pem: string, path: FieldPath, refuse: Say): void {
  const { label, content } = firstPemBlock(Buffer.from(pem)) ?? {};
  const type = label === "PUBLIC KEY" ? "spki" : label === "RSA PUBLIC KEY" ? "pkcs1" : undefined;
  if (content === undefined || type === undefined) {
    const found = label === undefined ? "no PEM block" : `a block ${quoted(label)}`;
    refuse(path, `it must be a public key in PEM, and has ${found}`);
    return;
  }
  try {
    createPublicKey({ key: content, format: "der", type });
  } catch {
    refuse(path, "the public key can't be read");
  }
}

/** @param text PEM, or that in Base64 once more */
function checkCertificates(text: string | undefined, path: FieldPath, refuse: Say): void {
  if (text === undefined) return;
  const pem = text.includes("-----") ? text : Buffer.from(text, "base64").toString("utf8");
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) refuse(path, "it must be certificates in PEM, and has none");
  for (const [i, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch {
      refuse(path, `certificate ${i + 1} can't be read`);
    }
  }
}

function isTrustedRoot(text: string): boolean {
  try {
    const root = parsePlainJson(text);
    return isObject(root) && String(root.mediaType).startsWith("application/vnd.dev.sigstore.trustedroot");
  } catch {
    return false;
  }
}

/** Warnings about parts that Kyverno takes, and that have no effect there or let everything pass. */
export const imageWarnings = ({ attestors = [] }: PolicySpec) =>
  gathered((warn) => {
    attestors.forEach(({ cosign }, i) => {
      const { ctlog } = cosign ?? {};
      const path = ["attestors", i, "cosign"];
      if (ctlog !== undefined && (ctlog.url ?? "") === "" && ctlog.insecureIgnoreTlog !== true)
        warn([...path, "ctlog"], "without a url Kyverno verifies nothing by this attestor; here none is needed");
    });
  });

/** Warnings about names of lists, attestors and attestations in an expression that are not declared. */
export function undeclaredNames(spec: PolicySpec, path: FieldPath, { program }: Expression): FieldError[] {
  if (program === undefined) return [];
  const names = (list: readonly { readonly name?: string }[] = []) => list.map(({ name = "" }) => name);
  const declared: ReadonlyMap<string, readonly string[]> = new Map([
    ["images", [...LISTS, ...names(spec.images)]],
    ["attestors", names(spec.attestors)],
    ["attestations", names(spec.attestations)],
  ]);
  const found: FieldError[] = [];
  walk(program.checked, (part) => {
    if (part.kind !== "select" || part.operand.kind !== "ident") return;
    const known = declared.get(part.operand.name);
    if (known === undefined || known.includes(part.field)) return;
    const list = known.length === 0 ? "there are none" : `known are ${known.join(", ")}`;
    found.push({ path, text: `${part.operand.name} has no ${part.field}${didYouMean(part.field, known)}: ${list}` });
  });
  return found;
}

const quoted = (text: string): string => JSON.stringify(text);
