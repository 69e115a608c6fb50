/** The expressions of test/vectors/cel/bench-strings.jsonl as one would write them in JavaScript; see cel-by-hand.ts. */
import { type ByHand, type Deployment, on } from "./cel-by-hand.js";

const onImages = (run: (images: readonly string[]) => unknown): ByHand =>
  on(({ spec }) => run(spec.containers.map(({ image }) => image)));

const everyContainer = (holds: (container: Deployment["spec"]["containers"][number]) => boolean): ByHand =>
  on(({ spec }) => spec.containers.every(holds));

/** By index of the expression. */
export const STRINGS_BY_HAND: readonly ByHand[] = [
  on(({ spec }) => {
    const image = spec.containers[0]?.image.toLowerCase() ?? "";
    return image.replaceAll("registry.", "mirror.").split("/")[0] === "mirror.example";
  }),
  onImages((images) => images.map((image) => image.split(":")[0]).join(", ") !== ""),
  on(({ spec }) => spec.containers.map(({ name }) => name).join(",") === "web,side,init"),
  everyContainer(({ image }) => image.split(":").length <= 2),
  everyContainer(({ image }) => image.slice(image.lastIndexOf("/") + 1).length > 2),
  everyContainer(
    ({ image }) =>
      !image.includes("/") || ["registry.example", "docker.io"].includes(image.slice(0, image.indexOf("/"))),
  ),
  on(({ metadata }) => metadata.name.toLowerCase() === metadata.name),
  on(({ metadata }) => (metadata.annotations?.note ?? "").trim().length > 0),
  on(({ metadata }) => (metadata.labels?.["app.kubernetes.io/name"] ?? "").replaceAll("e", "a") === "wab"),
  on(({ metadata, spec }) => `${metadata.name} in ${metadata.namespace} has ${spec.replicas} replicas`),
  on(({ spec }) => {
    const latest = spec.containers.filter(({ image }) => image.endsWith(":latest"));
    return latest.map(({ name }) => name).join(", ") === "init";
  }),
  on(({ spec }) => spec.containers.map(({ name, image }) => `container ${name} uses ${image}`).join("; ").length > 10),
  undefined,
  on(({ metadata: { labels = {} } }) =>
    Object.keys(labels).every((key) => key.length < 64 && (labels[key] ?? "").length < 64),
  ),
  everyContainer(({ image }) => image.includes("/") || image.includes(":")),
  everyContainer(({ name }) => name.length <= 63 && name.charAt(0) !== "-" && !name.endsWith("-")),
  onImages((images) => images.every((image) => image.toUpperCase().toLowerCase() === image.toLowerCase())),
  on(({ metadata }) => ["a", "b", metadata.name].join("-") === "a-b-web"),
  on(
    ({ spec }) =>
      spec.containers.filter(({ name }) => name.length > 3).length === 2 &&
      spec.containers.every(({ name }) => name !== ""),
  ),
  onImages((images) =>
    images
      .map((image) => image.split("/")[0]?.split(":")[0] ?? "")
      .every((registry) => registry.startsWith("registry") || ["busybox", "side@sha256"].includes(registry)),
  ),
];
