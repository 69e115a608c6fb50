// Where a Pod's containers are.
import { JSON } from "json-as";
import { isPresent, member } from "./json";

/** The lists of containers in a Pod's spec, in the order in which they start. */
export const CONTAINER_LISTS: string[] = ["initContainers", "containers", "ephemeralContainers"];

/** The Pod's spec: of a Pod, or of the template in a workload. */
export function podSpec(object: JSON.Value | null): JSON.Value | null {
  const spec = member(object, "spec");
  if (isPresent(member(spec, "jobTemplate"))) return podSpec(member(spec, "jobTemplate"));
  if (isPresent(member(spec, "template"))) return member(member(spec, "template"), "spec");
  return spec;
}
