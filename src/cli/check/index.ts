/** `check`: loads everything as `serve` does and says every mistake and doubt. */

import { text } from "node:stream/consumers";
import type { KubernetesVersion } from "../../cel/index.js";
import { parseConfig } from "../../config/index.js";
import type { CommandIo } from "../../data/command-io.js";
import { createPolicySource } from "../../loader/policy-source.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { paintFor } from "../look/paint.js";
import { type CheckedFile, checkedFile } from "./checked-file.js";
import { checkedJson } from "./json.js";
import { policiesFiles } from "./policies-files.js";
import { checkedSarif } from "./sarif.js";
import { SourceLines } from "./source-lines.js";
import { checkedText } from "./text.js";

/** How standard input is named. */
const STDIN = "-";
const STDIN_NAME = "<stdin>";

/** What `check` is asked. */
export interface CheckOptions {
  /** Files and folders; `-` is standard input. None: the one of the options, or the one that is there. */
  readonly named: readonly string[];
  readonly output: "text" | "json" | "sarif";
  /** Whether a warning fails, too. */
  readonly strict: boolean;
  /** The Kubernetes that ValidatingAdmissionPolicies must be stored by; absent: any that this server understands. */
  readonly kubernetesVersion?: KubernetesVersion;
}

/** @returns the exit code: 0 when everything loaded, 1 when there is any mistake */
export async function checkCommand(settings: LoaderSettings, options: CheckOptions, io: CommandIo): Promise<number> {
  const { named, output, strict } = options;
  const files = policiesFiles(named, settings);
  const given = files.includes(STDIN) ? new Map([[STDIN_NAME, await text(io.stdin)]]) : new Map<string, string>();
  const lines = new SourceLines(given);
  const paint = paintFor(io.stdout, io.env);
  const all: CheckedFile[] = [];
  for (const file of files) {
    const name = file === STDIN ? STDIN_NAME : file;
    const checked = await check({ ...settings, file: name }, given.get(name), options);
    all.push(checked);
    if (output === "text") io.stdout.write(checkedText(checked, lines, paint));
  }
  if (output === "json") io.stdout.write(checkedJson(all));
  if (output === "sarif") io.stdout.write(checkedSarif(all));
  return all.some(({ errors, warnings }) => errors > 0 || (strict && warnings > 0)) ? 1 : 0;
}

async function check(
  settings: LoaderSettings,
  content: string | undefined,
  { kubernetesVersion }: CheckOptions,
): Promise<CheckedFile> {
  // Who asks for a cluster by an option wants to know when there is none.
  const wanted = settings.kubernetes === true || settings.kubeconfig !== undefined;
  const source = createPolicySource(settings, {
    typeCheck: true,
    diagnose: true,
    warnWithoutCluster: !wanted,
    ...(content !== undefined && { read: (file: string) => parseConfig(content, file, { salvage: true }) }),
    ...(kubernetesVersion && { kubernetesVersion }),
  });
  try {
    return checkedFile(await source.load());
  } finally {
    source.close();
  }
}
