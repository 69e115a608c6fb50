/** Copies between a registry and an image layout whose names are full references (localhost:5055/team/app:tag). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { layoutWriter, repository, sha256 } from "../sigstore-golden/common.mjs";

const NAME = "org.opencontainers.image.ref.name";
const typeOf = (manifest) => manifest.artifactType ?? (manifest.subject && manifest.config?.mediaType);

/** Writes each tag of a registry and, unnamed, each referrer of what is tagged. */
export async function toLayout(host, output) {
  const layout = layoutWriter(output);
  const listed = [];
  const { repositories } = await (await fetch(`http://${host}/v2/_catalog`)).json();
  for (const name of repositories.sort()) {
    const source = repository(host, name);
    const seen = new Set();
    const copy = async (reference, named) => {
      const bytes = await source.bytes(`manifests/${reference}`);
      const digest = sha256(bytes);
      const manifest = JSON.parse(bytes.toString());
      layout.blob(bytes);
      const { mediaType } = manifest;
      const artifactType = typeOf(manifest);
      if (named || manifest.subject)
        listed.push({
          mediaType,
          digest,
          size: bytes.length,
          ...(artifactType && { artifactType }),
          ...(named && { annotations: { [NAME]: named } }),
        });
      if (seen.has(digest)) return;
      seen.add(digest);
      for (const { digest: child } of manifest.manifests ?? []) await copy(child);
      for (const blob of [manifest.config, ...(manifest.layers ?? [])])
        if (blob) layout.blob(await source.bytes(`blobs/${blob.digest}`));
      for (const { digest: referrer } of (await source.json(`referrers/${digest}`))?.manifests ?? [])
        await copy(referrer);
    };
    const { tags } = await source.json("tags/list");
    // A tag without an algorithm of its own is an index of referrers, which every registry keeps by itself.
    for (const tag of tags.sort()) if (!/^sha256-[0-9a-f]{64}$/.test(tag)) await copy(tag, `${host}/${name}:${tag}`);
  }
  layout.end(listed);
}

/** Pushes a layout into the registry that its names name, or into `host`. */
export async function toRegistry(folder, host) {
  const read = (digest) => readFileSync(join(folder, "blobs", "sha256", digest.slice(7)));
  const { manifests } = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"));
  const referrers = manifests.filter((one) => !one.annotations?.[NAME]);
  for (const { digest, annotations } of manifests) {
    const [, registry, name, tag] = /^([^/]+)\/(.+):([^:]+)$/.exec(annotations?.[NAME] ?? "") ?? [];
    if (!registry) continue;
    const target = repository(host ?? registry, name);
    const push = async (pushed, reference) => {
      const bytes = read(pushed);
      const manifest = JSON.parse(bytes.toString());
      for (const { digest: child } of manifest.manifests ?? []) await push(child);
      for (const blob of [manifest.config, ...(manifest.layers ?? [])]) if (blob) await target.blob(read(blob.digest));
      const answer = await target.manifest(bytes, reference);
      if (manifest.subject && !answer.takesSubjects) await addToTag(target, manifest, answer);
      for (const referrer of referrers)
        if (JSON.parse(read(referrer.digest).toString()).subject.digest === pushed) await push(referrer.digest);
    };
    await push(digest, tag);
  }
}

/** Keeps the index of referrers as a tag, for a registry that has no referrers API. */
async function addToTag(target, manifest, { digest, size, mediaType }) {
  const tag = manifest.subject.digest.replace(":", "-");
  const index = (await target.json(`manifests/${tag}`)) ?? {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [],
  };
  if (index.manifests.some((one) => one.digest === digest)) return;
  index.manifests.push({ mediaType, digest, size, artifactType: typeOf(manifest), annotations: manifest.annotations });
  await target.manifest(index, tag);
}
