import { basename, dirname, resolve } from "node:path";
import { manifestFiles } from "../data/manifest-files.js";
import { ConfigFileError, ConfigFiles } from "./config-files.js";
import { identityOf, opened } from "./documents/documents.js";
import { isPolicyLike } from "./documents/known-kinds.js";
import { Origin } from "./documents/origin.js";
import type { Path } from "./documents/problem.js";
import { parseResources, type SourceDocument } from "./documents/source-document.js";
import type { MapNode } from "./documents/source-node.js";
import type { PolicyEntry } from "./entry.js";
import {
  mistakesReachGuest,
  neverRun,
  type ReadContext,
  type ResourceFields,
  readFields,
  resourceEntry,
  type Written,
} from "./entry-parts.js";
import { entryFromKubewardenResource, isKubewardenGroup, isKubewardenResource } from "./kubewarden-resource.js";
import { nearFileHint } from "./near-files.js";
import type { ProblemSink } from "./problem-sink.js";

/** Reads an entry that names files of resources; undefined after an error. A resource of Kubewarden becomes the entry that it describes. */
export function readResource(written: Written<MapNode>): PolicyEntry | undefined {
  const { id, path, level, context } = written;
  const { sink } = context;
  const fields = readFields("resource", written);
  if (fields === undefined) return undefined;
  const before = sink.errorCount;
  const documents: SourceDocument[] = [];
  const empty: (readonly [Path, string])[] = [];
  for (const [index, name] of (fields.resource ?? []).entries()) {
    const place = [...path, "resource", ...(context.document.hasKey([...path, "resource", index]) ? [index] : [])];
    documents.push(...readNamed(name, place, context, (file) => empty.push([place, file])));
  }
  // Without one file the others may be wrong only because of that.
  if (sink.errorCount > before || (fields.resource ?? []).length === 0) return undefined;
  if (documents.length > 0)
    for (const [place, file] of empty) sink.warning(place, emptyFile(file), { code: "POLICY_DOUBT" });
  const kubewarden = documents.filter(isKubewardenResource);
  const [resource] = kubewarden;
  if (resource === undefined) {
    if (documents.length === 0) {
      sink.error([...path, "resource"], "no document in it: expected YAML documents of Kubernetes resources", {
        code: "POLICY_KIND",
      });
      return undefined;
    }
    refuseKeys(fields, ["hostCapabilities", "groupWarnings"], "a CEL policy", path, sink);
    for (const [key, ...kinds] of KEYS_OF_KINDS) {
      if (fields[key] === undefined || opened(documents).some((document) => isOneOf(document, kinds))) continue;
      const wanted = kinds.map(([group, kind]) => `a ${kind} of ${group}`).join(" or ");
      sink.keyError([...path, key], `has no meaning here: no document is ${wanted}`, {
        code: "CONFIG_MEANINGLESS_KEY",
      });
    }
    return resourceEntry({ id, origin: new Origin(context.document, path), documents }, fields);
  }
  if (documents.length === 1) {
    const group = isKubewardenGroup(resource);
    if (group)
      refuseKeys(fields, ["allowedToMutate", "validationActions", "certificateRequests"], "a group", path, sink);
    else refuseKeys(fields, ["groupWarnings", "validationActions", "certificateRequests"], "a WASM policy", path, sink);
    const entry = entryFromKubewardenResource(resource, id, level, fields, context);
    return entry && mistakesReachGuest(written) ? neverRun(entry) : entry;
  }
  const what = `${documents.length} documents, a Kubewarden policy among them`;
  sink.error(
    [...path, "resource"],
    `found ${what}: an entry is one policy, so keep each in a file and an entry of its own`,
    { code: "POLICY_KIND" },
  );
  return undefined;
}

/** The first bytes of every WASM module. */
const WASM_MAGIC = "\0asm";
const ADDRESS = /^(?:https?|registry|oci):\/\//;

/** Keys that apply to policies of some kinds, with the kinds. */
const KEYS_OF_KINDS = [
  [
    "allowedToMutate",
    ["admissionregistration.k8s.io", "MutatingAdmissionPolicy"],
    ["policies.kyverno.io", "MutatingPolicy"],
    ["policies.kyverno.io", "NamespacedMutatingPolicy"],
    ["policies.kyverno.io", "ImageValidatingPolicy"],
    ["policies.kyverno.io", "NamespacedImageValidatingPolicy"],
    ["kyverno.io", "ClusterPolicy"],
    ["kyverno.io", "Policy"],
  ],
  ["certificateRequests", ["policy.cert-manager.io", "CertificateRequestPolicy"]],
] as const;

function isOneOf(document: SourceDocument, kinds: readonly (readonly [group: string, kind: string])[]): boolean {
  const identity = identityOf(document);
  return kinds.some(([group, kind]) => identity.group === group && identity.kind === kind);
}

/** Reports keys that would silently have no effect for the kind of policy found. */
function refuseKeys(
  fields: ResourceFields,
  keys: readonly (keyof ResourceFields)[],
  found: string,
  path: Path,
  sink: ProblemSink,
): void {
  for (const key of keys) {
    if (fields[key] !== undefined)
      sink.keyError([...path, key], `has no meaning here: the resource is ${found}`, {
        code: "CONFIG_MEANINGLESS_KEY",
      });
  }
}

/** The message about a file without a document. */
export const emptyFile = (file: string): string =>
  `${JSON.stringify(file)} holds no policy: it is empty, or all of it is commented out`;

/** Most files below a folder that are looked into. */
const MAX_LOOKED_INTO = 1000;

/** Whether a file below a folder holds a policy that no entry reads. */
function holdsUnread(folder: string, { touched }: ConfigFiles): boolean {
  const files = new ConfigFiles();
  const holdsPolicy = (file: string): boolean => {
    const content = files.read(file);
    // Most other files are told without parsing.
    return /polic/i.test(content) && opened(parseResources(content, file).documents).some(isPolicy);
  };
  try {
    const unread = manifestFiles(folder, undefined, isForeign).filter((file) => !touched.has(resolve(file)));
    return unread.slice(0, MAX_LOOKED_INTO).some(holdsPolicy);
  } catch {
    return false;
  }
}

const isPolicy = (document: SourceDocument): boolean => isPolicyLike(identityOf(document));

/** Whether a folder holds files of other programs. */
export const isForeign = (folder: string): boolean => folder === "node_modules" || folder.startsWith(".");

/** The documents of a file, or of the files of a folder. */
function readNamed(
  name: string,
  path: Path,
  { document, files, chain, sink }: ReadContext,
  onEmpty: (file: string) => void,
): readonly SourceDocument[] {
  const onFolder = (folder: string): void => {
    const message = `the folder ${JSON.stringify(folder)} holds policies that are not read: name it, too`;
    files.afterwards.push(() => {
      if (holdsUnread(folder, files)) sink.warning(path, message, { code: "POLICY_DOUBT" });
    });
  };
  try {
    return files.resources(name, document.file, onFolder).flatMap((file) => {
      if (chain.includes(resolve(file))) {
        const names = [...chain, file].map((each) => basename(each));
        sink.error(path, `cycle of resource files: ${names.join(" -> ")}`, { code: "CONFIG_CYCLE" });
        return [];
      }
      const content = files.read(file);
      if (content.startsWith(WASM_MAGIC)) {
        const hint = "name it by `module:`";
        sink.error(path, `${JSON.stringify(name)} is a WASM module, and no YAML`, { code: "POLICY_KIND", hint });
        return [];
      }
      const { documents, problems, warnings } = parseResources(content, file);
      for (const problem of problems) sink.addError(problem);
      for (const warning of warnings) sink.add(warning);
      if (problems.length === 0 && opened(documents).length === 0) onEmpty(file);
      return documents;
    });
  } catch (cause) {
    if (!(cause instanceof ConfigFileError)) throw cause;
    const hint = ADDRESS.test(name)
      ? "`resource:` names files: download it, and name the file"
      : nearFileHint(resolve(dirname(document.file), name));
    sink.error(path, `${JSON.stringify(name)} ${cause.message}; paths start at the folder of this file`, {
      code: "CONFIG_FILE",
      ...(hint !== undefined && { hint }),
    });
    return [];
  }
}
