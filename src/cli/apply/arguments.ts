/** What can't be asked for together, in the words of Kyverno's command (spec kyverno.md 8.9). */
import type { ApplyValues } from "./options.js";

/** What to do, on a line of its own behind `require policy`: Kyverno says that alone. */
const NO_POLICY = "name files or folders with policies, as in: policy-server apply policy.yaml --resource pod.yaml";

/** What is the matter with the arguments; `undefined`: nothing. */
export function argumentProblem(
  policies: readonly string[],
  resources: readonly string[],
  values: ApplyValues & { readonly kubeconfig?: string | undefined },
): string | undefined {
  const {
    valuesFile,
    set,
    json = [],
    httpPayload = [],
    envoyPayload = [],
    cluster,
    crdPaths = [],
    kubeconfig = "",
  } = values;
  if (valuesFile !== undefined && set !== undefined) {
    return "pass the values either using set flag or values_file flag";
  }
  if (policies.length === 0)
    return `require policy
  ${NO_POLICY}`;
  if (policies.includes("-") && resources.includes("-")) {
    return "a stdin pipe can be used for either policies or resources, not both";
  }
  if (resources.length > 0 && json.length > 0) {
    return "both resource and json files can not be used together, use one or the other";
  }
  const given = [resources, json, httpPayload, envoyPayload].some((paths) => paths.length > 0);
  if (!given && !cluster) return "resource file(s) or cluster required";
  if (crdPaths.some((path) => path.trim() !== "") && kubeconfig.trim() !== "") {
    return "crd-paths and kubeconfig flags are mutually exclusive, please use only one of them";
  }
  return undefined;
}
