// Refuses images that do not come from a trusted registry. Settings: `registries`, hosts with an optional path below them.
import { JSON } from "json-as";
import { asList, asText, isPresent, member } from "policy-group-gateway/assemblyscript/json";
import { accept, payload, reject, settingsInvalid, settingsValid } from "policy-group-gateway/assemblyscript/policy";
import { CONTAINER_LISTS, podSpec } from "policy-group-gateway/assemblyscript/pod";

export function validate(): i32 {
  const asked = payload();
  const registries = asList(member(member(asked, "settings"), "registries"));
  const spec = podSpec(member(member(asked, "request"), "object"));
  for (let l = 0; l < CONTAINER_LISTS.length; l++) {
    const containers = asList(member(spec, CONTAINER_LISTS[l]));
    for (let i = 0; i < containers.length; i++) {
      const image = asText(member(containers[i], "image"));
      if (image === null) return reject(`a container in ${CONTAINER_LISTS[l]} has no image`, 422);
      if (!isTrusted(fullName(image), registries)) return reject(`image ${image} is not from a trusted registry`, 403);
    }
  }
  return accept();
}

export function validate_settings(): i32 {
  const registries = member(payload(), "registries");
  if (!isPresent(registries) || registries!.type !== JSON.Types.Array) return settingsInvalid("registries must be a list");
  const list = asList(registries);
  if (list.length == 0) return settingsInvalid("registries must name at least one registry");
  for (let i = 0; i < list.length; i++) {
    const registry = asText(list[i]);
    if (registry === null || registry.length == 0) return settingsInvalid("registries must hold texts that are not empty");
    if (registry.includes("://")) return settingsInvalid(`registries: leave the scheme out of ${registry}`);
    if (registry.endsWith("/")) return settingsInvalid(`registries: leave the / at the end out of ${registry}`);
  }
  return settingsValid();
}

/** The image with its registry: `nginx` is `docker.io/library/nginx`. */
function fullName(image: string): string {
  const slash = image.indexOf("/");
  if (slash < 0) return "docker.io/library/" + image;
  const first = image.slice(0, slash);
  return first.includes(".") || first.includes(":") || first == "localhost" ? image : "docker.io/" + image;
}

/** Whether the image is below one of the registries: `registry.example.org/team` covers `registry.example.org/team/app`, not `…/teams/app`. */
function isTrusted(image: string, registries: JSON.Value[]): bool {
  for (let i = 0; i < registries.length; i++) {
    const registry = asText(registries[i]);
    if (registry !== null && image.startsWith(registry + "/")) return true;
  }
  return false;
}
