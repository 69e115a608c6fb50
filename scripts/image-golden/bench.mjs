/** What is done to images: pushing them, and signing them by the real tools. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import * as common from "../sigstore-golden/common.mjs";
import { ISSUER, TYPES } from "./images.mjs";
import { AT, HOST } from "./services.mjs";

export const repositoryOf = (image) => common.repository(HOST, image.slice(HOST.length + 1).split("@")[0]);
const options = (all) => Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);

/** A tar archive of one file. */
function archive(name, content) {
  const head = Buffer.alloc(512);
  const octal = (value, length) => value.toString(8).padStart(length - 1, "0");
  head.write(name, 0);
  head.write(octal(0o644, 8), 100);
  head.write(octal(0, 8), 108);
  head.write(octal(0, 8), 116);
  head.write(octal(content.length, 12), 124);
  head.write(octal(0, 12), 136);
  head.write("        0", 148);
  head.write("ustar\u000000", 257);
  head.write(
    octal(
      head.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
  );
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([head, body, Buffer.alloc(1024)]);
}

const OCI = "application/vnd.oci.image";
const FORMS = {
  oci: {
    manifest: `${OCI}.manifest.v1+json`,
    index: `${OCI}.index.v1+json`,
    config: `${OCI}.config.v1+json`,
    layer: `${OCI}.layer.v1.tar+gzip`,
  },
  docker: {
    manifest: "application/vnd.docker.distribution.manifest.v2+json",
    index: "application/vnd.docker.distribution.manifest.list.v2+json",
    config: "application/vnd.docker.container.image.v1+json",
    layer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
  },
};

/** Pushes an image, or an index of one image a platform, and returns its digest and those of its children. */
export async function pushImage({ name, platforms, form = "oci" }) {
  const [path, tag] = name.split(":");
  const target = common.repository(HOST, path);
  const types = FORMS[form];
  const tar = archive("hello", "hello\n");
  const layers = [{ mediaType: types.layer, ...(await target.blob(gzipSync(tar))) }];
  const one = async (architecture, reference) => {
    const content = {
      architecture,
      os: "linux",
      config: { User: "65532", Labels: { "org.opencontainers.image.title": name } },
      rootfs: { type: "layers", diff_ids: [common.sha256(tar)] },
    };
    const config = { mediaType: types.config, ...(await target.blob(Buffer.from(JSON.stringify(content)))) };
    return target.manifest({ schemaVersion: 2, mediaType: types.manifest, config, layers }, reference);
  };
  if (!platforms) return { digest: (await one("amd64", tag)).digest };
  const manifests = [];
  for (const architecture of platforms) {
    const { mediaType, digest, size } = await one(architecture);
    manifests.push({ mediaType, digest, size, platform: { architecture, os: "linux" } });
  }
  const { digest } = await target.manifest({ schemaVersion: 2, mediaType: types.index, manifests }, tag);
  return { digest, children: Object.fromEntries(manifests.map((each) => [each.platform.architecture, each.digest])) };
}

/** Pushes a referrer of one layer, and returns its reference. `old` is the form before OCI 1.1: its type is the config's. */
async function refer(image, type, bytes, old) {
  const target = repositoryOf(image);
  const mediaType = FORMS.oci.manifest;
  const configType = old ? type : "application/vnd.oci.empty.v1+json";
  const config = { mediaType: configType, ...(await target.blob(Buffer.from("{}"))) };
  const layers = [{ mediaType: type, ...(await target.blob(bytes)) }];
  const digest = image.split("@")[1];
  const content = await target.bytes(`manifests/${digest}`);
  const subject = { mediaType: JSON.parse(content.toString()).mediaType, digest, size: content.length };
  const typed = old ? {} : { artifactType: type };
  const pushed = await target.manifest({ schemaVersion: 2, mediaType, ...typed, config, layers, subject });
  return image.replace(/@.*/, `@${pushed.digest}`);
}

/** What steps of images.mjs do to an image: `localhost:5055/NAME@DIGEST`. `known` has digests of names, and children of images by architecture. */
export function benchOf(shop, issuer, known) {
  const who = (options) => signerOf(shop, issuer, options);
  const signingConfig = ({ services = "all", sct = true }) => {
    const all = {
      fulcio: sct ? AT.fulcio : AT.fulcioWithout,
      issuer: ISSUER,
      rekor: { all: { url: AT.rekor2, version: 2 }, rekor1: { url: AT.rekor1, version: 1 } }[services],
      tsa: ["all", "tsa"].includes(services) && AT.tsa,
    };
    return shop.write("signing.json", common.signingConfigOf(all));
  };
  return {
    child: (image, architecture) => image.replace(/@.*/, `@${known.children[image][architecture]}`),
    /** Signs (or, with a type, attests) as cosign 2.6 does, or cosign 3 in the old form. */
    async legacy(image, { by = "cosign2", log = true, tsa, sct = true, repository, reference, referrer, ...rest }) {
      const args = [
        ...who(rest),
        ...(log ? ["--rekor-url", AT.rekor1] : ["--tlog-upload=false"]),
        ...(tsa ? ["--timestamp-server-url", `${AT.tsa}/api/v1/timestamp`] : []),
        ...(rest.mail || rest.claims ? ["--fulcio-url", sct ? AT.fulcio : AT.fulcioWithout] : []),
        ...(by === "cosign" ? ["--new-bundle-format=false", "--use-signing-config=false"] : []),
        ...(sct ? [] : ["--insecure-skip-verify"]),
        ...(referrer ? ["--registry-referrers-mode", "oci-1-1"] : []),
        ...(rest.entry ? ["--rekor-entry-type", rest.entry] : []),
        ...(reference ? ["--sign-container-identity", reference] : []),
      ];
      await shop.run(by, [...args.slice(0, 1), "-y", ...args.slice(1), image], {
        SIGSTORE_REKOR_PUBLIC_KEY: shop.path("rekor1.pub"),
        SIGSTORE_CT_LOG_PUBLIC_KEY_FILE: shop.path("ct.pub"),
        SIGSTORE_ROOT_FILE: shop.path("fulcio.pem"),
        ...(referrer && { COSIGN_EXPERIMENTAL: "1" }),
        ...(repository && { COSIGN_REPOSITORY: repository }),
      });
    },
    /** Signs (or, with a type, attests) as cosign 3 does. `services`: all (Rekor 2 and a timestamp), rekor1, tsa or none. */
    async bundle(image, { by = "cosign", services, sct, ...rest }) {
      const [command, ...args] = who(rest);
      const using = ["--signing-config", signingConfig({ services, sct })];
      if (by === "cosign2") using.push("--new-bundle-format", "--trusted-root", shop.path("trusted-root.json"));
      await shop.run(by, [command, "-y", ...using, ...args, image]);
    },
    async notation(image, { chain, form, expiry, metadata, tsa, scheme, critical }) {
      const args = {
        key: shop.path(`${chain}.key`),
        chain: shop.path(`${chain}.pem`),
        form,
        expiry,
        metadata,
        scheme,
        critical,
      };
      const stamped = { tsa: `${AT.tsa}/api/v1/timestamp`, "tsa-root": shop.path("tsa-root.pem") };
      const given = Object.fromEntries(Object.entries({ ...args, ...(tsa && stamped) }).filter(([, value]) => value));
      await shop.run("image-golden", ["sign-notation", ...options(given), image]);
    },
    /** Attaches an artifact of one layer as a referrer, and returns its reference. */
    attach: (image, type, name, old) => refer(image, type, readFileSync(shop.path(name)), old),
    /** Signs the manifest as a blob, and attaches the bundle, which has a message signature. */
    async message(image, options) {
      const file = shop.write("manifest.json", await repositoryOf(image).bytes(`manifests/${image.split("@")[1]}`));
      const args = ["--signing-config", signingConfig({}), "--bundle", shop.path("bundle.json")];
      await shop.run("cosign", ["sign-blob", "-y", ...args, ...who(options).slice(1), file]);
      const bundle = readFileSync(shop.path("bundle.json"));
      await refer(image, JSON.parse(bundle.toString()).mediaType, bundle);
    },
    /** Writes the bundle of an image in the form of an older version (0.1 or 0.2), in its place. */
    async rewrap(image, version) {
      const target = repositoryOf(image);
      const [{ digest }] = (await target.json(`referrers/${image.split("@")[1]}`)).manifests;
      const { layers } = await target.json(`manifests/${digest}`);
      const bundle = await target.json(`blobs/${layers[0].digest}`);
      const mediaType = `application/vnd.dev.sigstore.bundle+json;version=${version}`;
      const { certificate, ...material } = bundle.verificationMaterial;
      if (certificate) material.x509CertificateChain = { certificates: [certificate] };
      await refer(
        image,
        mediaType,
        Buffer.from(JSON.stringify({ ...bundle, mediaType, verificationMaterial: material })),
      );
      await target.remove(digest);
    },
    /** Copies the signature layer of another image below the tag of this one. */
    async copySignature(from, image) {
      const target = repositoryOf(image);
      const tag = (digest) => `${digest.replace(":", "-")}.sig`;
      await target.manifest(await target.bytes(`manifests/${tag(known.digests[from])}`), tag(image.split("@")[1]));
    },
    /** Makes a referrer of another image refer to this one. */
    async copyReferrer(from, image) {
      const target = repositoryOf(image);
      const [{ digest }] = (await target.json(`referrers/${known.digests[from]}`)).manifests;
      const manifest = await target.json(`manifests/${digest}`);
      await target.manifest({ ...manifest, subject: { ...manifest.subject, digest: image.split("@")[1] } });
    },
  };
}

/** The command and its arguments that say who signs what. */
function signerOf(shop, issuer, { key, certificate, mail, claims, annotations = [], type, predicate, recursive }) {
  return [
    type ? "attest" : "sign",
    ...(key ? ["--key", shop.path(`${key}.key`)] : []),
    ...(certificate
      ? ["--key", shop.path(`${certificate}-cosign.key`), "--certificate", shop.path(`certificates/${certificate}.pem`)]
      : []),
    ...(certificate ? ["--certificate-chain", shop.path("certificates/own-chain.pem")] : []),
    ...(mail || claims ? ["--identity-token", issuer.token(claims ?? common.mailClaims(mail))] : []),
    ...annotations.flatMap((one) => ["-a", one]),
    ...(type ? ["--type", type, "--predicate", shop.path(predicate ?? TYPES[type])] : []),
    ...(recursive ? ["--recursive"] : []),
  ];
}
