/**
 * Makes test/fixtures/sigstore: an image layout with signatures by the real cosign 3, with a private Fulcio, Rekor 2 and timestamp authority, and the
 * trust configuration for them. Run by hand, where Go is: see README.md.
 *
 * node make.mjs TOOLS OUTPUT
 */
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as common from "./common.mjs";

const [tools, output] = process.argv.slice(2).map((path) => resolve(path));
const at = { registry: 15055, issuer: 15056, fulcio: 15057, authority: 15058, rekor: 15060 };
const local = (port) => `http://localhost:${port}`;
const shop = common.workshop(tools);
const issuer = common.identityIssuer(at.issuer);
const modules = common.repository(`localhost:${at.registry}`, "team/p");

/** Pushes an artifact of one layer. */
async function push(tag, layer) {
  const config = {
    mediaType: "application/vnd.wasm.config.v1+json",
    ...(await modules.blob(Buffer.from("{}"))),
  };
  const layers = [{ mediaType: "application/vnd.wasm.content.layer.v1+wasm", ...(await modules.blob(layer)) }];
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  return (await modules.manifest({ schemaVersion: 2, mediaType, config, layers }, tag)).digest;
}

/** Copies manifests and blobs of a name into the layout. */
async function copy(layout, name, listed, annotations) {
  const manifest = await modules.bytes(`manifests/${name}`);
  layout.blob(manifest);
  const content = JSON.parse(manifest.toString());
  for (const { digest } of [content.config, ...content.layers]) layout.blob(await modules.bytes(`blobs/${digest}`));
  listed.push({
    mediaType: content.mediaType,
    digest: common.sha256(manifest),
    size: manifest.length,
    ...(content.artifactType && { artifactType: content.artifactType }),
    ...(annotations && { annotations }),
  });
}

try {
  shop.start("registry", "-port", String(at.registry));
  shop.start("timestamp-server", "serve", "--port", String(at.authority), "--disable-ntp-monitoring");
  const log = common.startRekor(shop, at.rekor);
  const config = shop.write(
    "fulcio.yaml",
    `oidc-issuers:\n  ${issuer.address}:\n    issuer-url: ${issuer.address}\n    client-id: sigstore\n    type: email\n`,
  );
  const options = {
    ca: "ephemeralca",
    "ct-log-url": "",
    "config-path": config,
    port: at.fulcio,
    "grpc-port": 15063,
    "metrics-port": 15064,
  };
  shop.start("fulcio", "serve", ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]));

  const { chains } = await (await common.until(`${local(at.fulcio)}/api/v2/trustBundle`)).json();
  const authority = await (await common.until(`${local(at.authority)}/api/v1/timestamp/certchain`)).text();
  const trustedRoot = common.trustedRootOf({
    tlogs: [common.tileLog(log)],
    fulcio: chains.map(({ certificates }) => certificates),
    timestamps: [common.certificatesIn(authority)],
  });
  const root = shop.write("root.json", JSON.stringify(trustedRoot));
  const signing = common.signingConfigOf({
    fulcio: local(at.fulcio),
    issuer: issuer.address,
    rekor: { url: local(at.rekor), version: 2 },
    tsa: local(at.authority),
  });
  const cosign = (...args) => shop.run("cosign", args);
  await cosign("generate-key-pair");

  const module = Buffer.from("0061736d01000000", "hex");
  const names = ["keyless", "key", "annotated", "attested only", "unsigned"];
  const digests = {};
  for (const [index, name] of names.entries()) {
    // A custom section with the name makes each module another one.
    const text = Buffer.from(name);
    digests[name] = await push(
      `v${index}`,
      Buffer.concat([module, Buffer.from([0, text.length + 1, text.length]), text]),
    );
  }
  const image = (name) => `localhost:${at.registry}/team/p@${digests[name]}`;
  const services = ["--signing-config", shop.write("signing.json", signing), "--trusted-root", root];
  const using = ["-y", "--allow-http-registry", ...services];
  const token = issuer.token(common.mailClaims("ci@example.org"));
  const key = ["--key", "cosign.key"];
  await cosign("sign", ...using, "--identity-token", token, image("keyless"));
  await cosign("sign", ...using, ...key, image("key"));
  await cosign("sign", ...using, ...key, "-a", "env=prod", image("annotated"));
  const predicate = shop.write("predicate.json", JSON.stringify({ result: "failed" }));
  await cosign("attest", ...using, ...key, "--type", "custom", "--predicate", predicate, image("attested only"));

  const layout = common.layoutWriter(output);
  const listed = [];
  for (const [name, digest] of Object.entries(digests)) {
    await copy(layout, digest, listed, { "org.opencontainers.image.ref.name": name });
    const index = await modules.json(`manifests/${digest.replace(":", "-")}`);
    for (const one of index?.manifests ?? []) await copy(layout, one.digest, listed, one.annotations);
  }
  layout.end(listed);
  layout.json("trust.json", common.clientTrust(trustedRoot));
  copyFileSync(shop.path("cosign.pub"), join(output, "cosign.pub"));
} finally {
  shop.close();
  issuer.close();
}
