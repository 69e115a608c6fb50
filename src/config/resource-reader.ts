import { basename, resolve } from "node:path";
import { identityOf, opened } from "../documents/documents.js";
import { Origin } from "../documents/origin.js";
import type { Path } from "../documents/problem.js";
import { parseResources, type SourceDocument } from "../documents/source-document.js";
import type { MapNode } from "../documents/source-node.js";
import { ConfigFileError } from "./config-files.js";
import type { PolicyEntry } from "./entry.js";
import { type ReadContext, type ResourceFields, readFields, resourceEntry, type Written } from "./entry-parts.js";
import { entryFromKubewardenResource, isKubewardenGroup, isKubewardenResource } from "./kubewarden-resource.js";
import type { ProblemSink } from "./problem-sink.js";

/** Reads an entry that names files of resources; undefined after an error. A resource of Kubewarden becomes the entry that it describes. */
export function readResource(written: Written<MapNode>): PolicyEntry | undefined {
  const { id, path, level, context } = written;
  const { sink } = context;
  const fields = readFields("resource", written);
  if (fields === undefined) return undefined;
  const before = sink.errorCount;
  const documents: SourceDocument[] = [];
  for (const [index, name] of (fields.resource ?? []).entries()) {
    const place = context.document.hasKey([...path, "resource", index]) ? [index] : [];
    documents.push(...readNamed(name, [...path, "resource", ...place], context));
  }
  if (sink.errorCount > before) return undefined;
  const kubewarden = documents.filter(isKubewardenResource);
  const [resource] = kubewarden;
  if (resource === undefined) {
    if (documents.length === 0) {
      sink.error([...path, "resource"], "no document in it: expected YAML documents of Kubernetes resources");
      return undefined;
    }
    refuseKeys(fields, ["hostCapabilities", "groupWarnings"], "a CEL policy", path, sink);
    for (const [key, group, kind] of KEYS_OF_KINDS) {
      if (fields[key] === undefined || opened(documents).some((document) => isOf(document, group, kind))) continue;
      sink.keyError([...path, key], `has no meaning here: no document is a ${kind} of ${group}`);
    }
    return resourceEntry({ id, origin: new Origin(context.document, path), documents }, fields);
  }
  if (documents.length === 1) {
    const group = isKubewardenGroup(resource);
    if (group)
      refuseKeys(fields, ["allowedToMutate", "validationActions", "certificateRequests"], "a group", path, sink);
    else refuseKeys(fields, ["groupWarnings", "validationActions", "certificateRequests"], "a WASM policy", path, sink);
    return entryFromKubewardenResource(resource, id, level, fields, context);
  }
  const what = `${documents.length} documents, a Kubewarden policy among them`;
  sink.error(
    [...path, "resource"],
    `found ${what}: an entry is one policy, so keep each in a file and an entry of its own`,
  );
  return undefined;
}

/** Keys that are for policies of one kind, with the kind. */
const KEYS_OF_KINDS = [
  ["allowedToMutate", "admissionregistration.k8s.io", "MutatingAdmissionPolicy"],
  ["certificateRequests", "policy.cert-manager.io", "CertificateRequestPolicy"],
] as const;

function isOf(document: SourceDocument, group: string, kind: string): boolean {
  const identity = identityOf(document);
  return identity.group === group && identity.kind === kind;
}

/** A key that would silently do nothing for the kind of policy found is an error. */
function refuseKeys(
  fields: ResourceFields,
  keys: readonly (keyof ResourceFields)[],
  found: string,
  path: Path,
  sink: ProblemSink,
): void {
  for (const key of keys) {
    if (fields[key] !== undefined) sink.keyError([...path, key], `has no meaning here: the resource is ${found}`);
  }
}

/** The documents of a file, or of the files of a folder. */
function readNamed(name: string, path: Path, { document, files, chain, sink }: ReadContext): readonly SourceDocument[] {
  try {
    return files.resources(name, document.file).flatMap((file) => {
      if (chain.includes(resolve(file))) {
        const names = [...chain, file].map((each) => basename(each));
        sink.error(path, `cycle of resource files: ${names.join(" -> ")}`);
        return [];
      }
      const { documents, problems, warnings } = parseResources(files.read(file), file);
      for (const problem of problems) sink.addError(problem);
      for (const warning of warnings) sink.add(warning);
      return documents;
    });
  } catch (cause) {
    if (!(cause instanceof ConfigFileError)) throw cause;
    sink.error(path, `${JSON.stringify(name)} ${cause.message}; paths start at the folder of this file`);
    return [];
  }
}
