/**
 * Serves an image layout on loopback, asks the real cosign 3 and notation-go about each image, and writes README.md and verdicts.json beside it.
 *
 * node check.mjs TOOLS LAYOUT
 */
import { execFile, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { repository, until } from "../sigstore-golden/common.mjs";
import { IMAGES } from "./images.mjs";
import { toRegistry } from "./layout.mjs";
import { HOST } from "./services.mjs";

const [tools, layout] = process.argv.slice(2).map((path) => resolve(path));
const json = (path) => JSON.parse(readFileSync(join(layout, path), "utf8"));

/** The program and the arguments of a check. */
function commandOf(line, image) {
  const [name, ...args] = line.split(" ");
  const [command, elsewhere] = name.split("@");
  if (command !== "verify" && command !== "verify-attestation")
    return { program: "image-golden", args: [`check-${command}`, ...args, image] };
  const own = args.some((one) => ["--trusted-root", "--certificate-chain"].includes(one));
  const trust = own ? [] : ["--trusted-root", "trusted-root.json"];
  return { program: "cosign", args: [command, "--offline", ...trust, ...args, image], elsewhere };
}

/** The reference of the SBOM that refers to an image. */
async function sbomOf(image) {
  const [name, digest] = image.slice(HOST.length + 1).split("@");
  const { manifests } = await repository(HOST, name).json(`referrers/${digest}`);
  const sbom = manifests.find((one) => one.artifactType === "application/vnd.cyclonedx+json");
  return `${HOST}/${name}@${sbom.digest}`;
}

/** Asks a tool: undefined when it verifies, else its reason. */
async function refusal(line, image) {
  const { program, args, elsewhere } = commandOf(line, line.startsWith("notation@sbom") ? await sbomOf(image) : image);
  const env = {
    ...process.env,
    SIGSTORE_REKOR_PUBLIC_KEY: "keys/rekor1.pub",
    ...(elsewhere && { COSIGN_REPOSITORY: elsewhere }),
  };
  try {
    await promisify(execFile)(join(tools, program), args, { cwd: layout, env, maxBuffer: 1 << 26 });
    return undefined;
  } catch (error) {
    const said = program === "cosign" ? error.stderr.split("error during command execution: ").at(-1) : undefined;
    const text = said ?? (error.stdout ? JSON.parse(error.stdout).reasons.at(-1) : error.stderr);
    const short = text.replaceAll(image, "IMAGE").replace(/-----BEGIN[\s\S]*?-----END [A-Z ]+-----/g, "KEY");
    return short.replace(/\s+/g, " ").trim().slice(0, 300);
  }
}

/** A command line in few words, for the table. */
const brief = (line) =>
  line
    .replace(/--key keys\/(\w+)\.pub/, "key $1")
    .replace(/--certificate-identity (\S+) --certificate-oidc-issuer \S+/, "identity $1")
    .replace(/verify-attestation (.*?) --type (\S+)/, "attested $2 by $1")
    .replace(/^(verify|notation) /, "")
    .replace(/^bundle /, "by sigstore-go: ")
    .replace(/^notation@sbom /, "@sbom: ")
    .replace(/certificates\/([\w-]+)\.pem/g, "$1")
    .replace(/ --insecure-ignore-tlog/, ", no log asked")
    .replace(/ --insecure-ignore-sct/, ", no SCT asked")
    .replace(/ --use-signed-timestamps/, ", timestamp asked")
    .replaceAll("|", "\\|");

const registry = spawn(join(tools, "image-golden"), ["serve"], { stdio: "ignore" });
try {
  await until(`http://${HOST}/v2/`);
  await toRegistry(layout, HOST);
  const { manifests } = json("index.json");
  const digestOf = (name) =>
    manifests.find((one) => one.annotations?.["org.opencontainers.image.ref.name"] === `${HOST}/${name}`).digest;
  const verdicts = [];
  let wrong = 0;
  for (const { name, meaning, checks, platforms } of IMAGES) {
    const digest = digestOf(name);
    const image = `${HOST}/${name.split(":")[0]}@${digest}`;
    const children = platforms && json(`blobs/sha256/${digest.slice(7)}`).manifests;
    const said = [];
    for (const check of checks) {
      const reason = await refusal(check.with, image);
      if ((reason === undefined) !== check.verifies) {
        console.error(`NOT AS WANTED: ${name}: ${check.with}: ${reason ?? "verified"}`);
        wrong++;
      }
      said.push({ with: check.with, verifies: reason === undefined, reason });
    }
    const byPlatform = children?.map((one) => [one.platform.architecture, one.digest]);
    verdicts.push({
      name,
      meaning,
      digest,
      ...(children && { children: Object.fromEntries(byPlatform) }),
      checks: said,
    });
  }
  writeFileSync(join(layout, "verdicts.json"), `${JSON.stringify(verdicts, undefined, 1)}\n`);
  const rows = verdicts.map(({ name, meaning, digest, checks }) => {
    const list = (wanted) =>
      checks
        .filter(({ verifies }) => verifies === wanted)
        .map((one) => brief(one.with))
        .join("<br>");
    return `| \`${name}\` | ${meaning} | ${list(true)} | ${list(false)} | \`${digest}\` |`;
  });
  const page = readFileSync(new URL("table.md", import.meta.url), "utf8").replace("ROWS", rows.join("\n"));
  writeFileSync(join(layout, "README.md"), page);
  console.log(
    `${verdicts.length} images, ${verdicts.flatMap(({ checks }) => checks).length} checks, ${wrong} not as wanted`,
  );
  process.exitCode = wrong > 0 ? 1 : 0;
} finally {
  registry.kill();
}
