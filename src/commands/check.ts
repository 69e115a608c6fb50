import type { KubernetesVersion } from "../cel/index.js";
import type { CommandIo } from "./io.js";
import { createPolicySource, problemLines } from "./load.js";

/**
 * `check`: loads everything as `serve` does and says every mistake and doubt.
 * @param kubernetesVersion the Kubernetes that ValidatingAdmissionPolicies must be stored by; absent: any that this server understands
 * @returns 0 when everything loaded, 1 when there is any mistake
 */
export async function checkCommand(
  values: Readonly<Record<string, unknown>>,
  io: CommandIo,
  kubernetesVersion?: KubernetesVersion,
): Promise<number> {
  // Who asks for a cluster by an option wants to know when there is none.
  const wanted = values.kubernetes === true || values.kubeconfig !== undefined;
  const source = createPolicySource(values, io.env, undefined, {
    typeCheck: true,
    warnWithoutCluster: !wanted,
    ...(kubernetesVersion && { kubernetesVersion }),
  });
  try {
    const result = await source.load();
    for (const line of problemLines(result)) io.stdout.write(`${line}\n`);
    if (result.errors > 0) {
      io.stdout.write(`${result.file}: ${result.errors} ${result.errors === 1 ? "error" : "errors"}\n`);
      return 1;
    }
    io.stdout.write(`${result.file}: ${countOf(result.policies.entries.keys())}, no errors\n`);
    return 0;
  } finally {
    source.close();
  }
}

/** Ids with a slash are members addressed by themselves. */
function countOf(ids: Iterable<string>): string {
  const policies = [...ids].filter((id) => !id.includes("/")).length;
  return `${policies} ${policies === 1 ? "policy" : "policies"}`;
}
