/** Kubewarden's policies of a cluster as entries (spec kubewarden.md 11.2). */
import { resolve } from "node:path";
import { ConfigFiles } from "../config-files.js";
import type { Problem } from "../documents/problem.js";
import type { SourceDocument } from "../documents/source-document.js";
import { pairOf } from "../documents/source-node.js";
import type { PolicyEntry } from "../entry.js";
import type { ReadContext, Written } from "../entry-parts.js";
import { readPolicy } from "../entry-reader.js";
import { entryFromKubewardenResource } from "../kubewarden-resource.js";
import { ProblemSink } from "../problem-sink.js";

/** The result of reading a policy. */
export interface ReadEntry {
  /** Absent only with at least one error. */
  readonly entry: PolicyEntry | undefined;
  readonly problems: readonly Problem[];
}

/**
 * The entry of an AdmissionPolicy, an AdmissionPolicyGroup or one of their cluster-wide forms.
 * @param hostCapabilities the host capabilities that it may use
 */
export function kubewardenEntry(document: SourceDocument, id: string, hostCapabilities: readonly string[]): ReadEntry {
  const sink = new ProblemSink(document, id);
  const context: ReadContext = {
    document,
    sink,
    files: new ConfigFiles(),
    defaultHostCapabilities: hostCapabilities,
    chain: [resolve(document.file)],
    budget: { policies: 0 },
    references: [],
    readPolicy: readMember,
  };
  const overrides = { hostCapabilities };
  const entry = entryFromKubewardenResource(document, id, { member: false }, overrides, context);
  // A user who may delete the policy that it names, or create another one under that name, would decide for the group.
  const message = "a group of the cluster brings its members along: it can't name another policy";
  for (const { problem } of context.references) sink.addError(problem(message, "CONFIG_REFERENCE"));
  return { entry: sink.errorCount === 0 ? entry : undefined, problems: sink.problems };
}

/** Reads a member, which must be defined in place: neither by files of the server, nor by policies that others may delete. */
function readMember(written: Written): PolicyEntry | undefined {
  const { node, path, context } = written;
  if (node.kind === "map" && pairOf(node, "resource") !== undefined) {
    context.sink.keyError([...path, "resource"], "a group of the cluster can't have files of the server as members");
    return undefined;
  }
  return readPolicy(written);
}
