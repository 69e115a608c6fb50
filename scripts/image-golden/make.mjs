/**
 * Makes test/fixtures/images: an image layout with signatures by the real cosign 2.6 and 3 and by notation-go, with private services, keys and
 * certificates. Run by hand, where Go is: see README.md. check.mjs then writes what the real tools say of it.
 *
 * node make.mjs TOOLS OUTPUT
 */
import { generateKeyPairSync } from "node:crypto";
import { cpSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import * as common from "../sigstore-golden/common.mjs";
import { benchOf, pushImage } from "./bench.mjs";
import { IMAGES, ISSUER } from "./images.mjs";
import { toLayout } from "./layout.mjs";
import { PREDICATES } from "./predicates.mjs";
import { HOST, startAuthority, startServices, writeTrust } from "./services.mjs";

const [tools, output] = process.argv.slice(2).map((path) => resolve(path));
const shop = common.workshop(tools);
const issuer = common.identityIssuer(Number(new URL(ISSUER).port));

const KEYS = ["cosign", "other", "rsa", "p384", "ed25519"];
const OWN = ["own-leaf", "own-two-leaf", "own-expired-leaf"];
const SHOWN = [
  ...OWN,
  ...["own-root", "own-intermediate", "tsa-root", "tsa-intermediate", "fulcio-root", "fulcio"],
  ...["notation-root", "notation-intermediate", "notation-other-root", "notation-self-signed"],
];

async function makeKeys() {
  for (const name of ["cosign", "other"]) await shop.run("cosign", ["generate-key-pair", "--output-key-prefix", name]);
  const kinds = { rsa: ["rsa", { modulusLength: 2048 }], p384: ["ec", { namedCurve: "P-384" }], ed25519: ["ed25519"] };
  const bring = async (name, text, prefix = name) => {
    const file = shop.write(`${name}-plain.pem`, text);
    await shop.run("cosign", ["import-key-pair", "-y", "--key", file, "--output-key-prefix", prefix]);
  };
  for (const [name, kind] of Object.entries(kinds))
    await bring(name, generateKeyPairSync(...kind).privateKey.export({ type: "pkcs8", format: "pem" }));
  // Certificates' keys, in cosign's form.
  for (const name of OWN) await bring(name, shop.read(`${name}.key`), `${name}-cosign`);
}

function showCertificates() {
  mkdirSync(shop.path("certificates"));
  const leaf = (name) => `${common.certificatesIn(shop.read(`${name}.pem`))[0]}\n`;
  for (const name of SHOWN) shop.write(`certificates/${name}.pem`, leaf(name));
  shop.write("certificates/own-chain.pem", leaf("own-intermediate") + leaf("own-root"));
}

try {
  // Validity of certificates that are to expire: long enough for the signatures, which are made first.
  await shop.run("image-golden", ["certificates", "--to", shop.folder, "--short", "30s"]);
  showCertificates();
  for (const [name, content] of Object.entries(PREDICATES)) shop.write(name, JSON.stringify(content));
  const rekor2 = await startServices(shop);
  await makeKeys();
  mkdirSync(shop.path("keys"));
  for (const name of [...KEYS, "rekor1", "ct"]) shop.write(`keys/${name}.pub`, shop.read(`${name}.pub`));
  shop.write("keys/rekor2.pub", rekor2.key.export({ type: "spki", format: "pem" }));
  writeTrust(shop, rekor2);

  const known = { digests: {}, children: {} };
  const bench = benchOf(shop, issuer, known);
  // Notation wants the authority's chain in timestamps. What is signed with certificates that are to expire comes soon.
  const stages = [/notation/, /expired/, /./].map((stage) => ({ stage, steps: [] }));
  for (const image of IMAGES) {
    const { digest, children } = await pushImage(image);
    const reference = `${HOST}/${image.name.split(":")[0]}@${digest}`;
    known.digests[image.name] = digest;
    known.children[reference] = children;
    stages.find(({ stage }) => stage.test(image.name)).steps.push({ image, reference });
  }
  for (const [index, { steps }] of stages.entries()) {
    const authority = await startAuthority(shop, index === 0);
    for (const { image, reference } of steps)
      try {
        await image.step?.(bench, reference);
      } catch (error) {
        console.error(`NOT MADE: ${image.name}: ${error.stderr ?? error.stack}`);
        process.exitCode = 1;
      }
    await authority.end();
  }

  await toLayout(HOST, output);
  const roots = ["", "-own", "-other"].flatMap((name) => [`trusted-root${name}.json`, `trust${name}.json`]);
  for (const name of ["keys", "certificates", ...roots])
    cpSync(shop.path(name), join(output, name), { recursive: true });
} finally {
  shop.close();
  issuer.close();
}
