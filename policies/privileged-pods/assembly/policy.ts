// Refuses Pods with privileged containers. Settings: `exemptImages`, image references or prefixes that end in `*`.
import { asList, asObject, asText, isPresent, isTrue, member } from "policy-group-gateway/assemblyscript/json";
import { JSON } from "json-as";
import { accept, payload, reject, settingsInvalid, settingsValid } from "policy-group-gateway/assemblyscript/policy";
import { CONTAINER_LISTS, podSpec } from "policy-group-gateway/assemblyscript/pod";

export function validate(): i32 {
  const asked = payload();
  const spec = podSpec(member(member(asked, "request"), "object"));
  if (spec === null) return accept();
  const exempt = asList(member(member(asked, "settings"), "exemptImages"));
  for (let l = 0; l < CONTAINER_LISTS.length; l++) {
    const containers = asList(member(spec, CONTAINER_LISTS[l]));
    for (let i = 0; i < containers.length; i++) {
      if (!isTrue(member(member(containers[i], "securityContext"), "privileged"))) continue;
      const image = asText(member(containers[i], "image"));
      if (image !== null && isExempt(image, exempt)) continue;
      const name = asText(member(containers[i], "name"));
      return reject(`container ${name === null ? "without a name" : name} is privileged`, 403);
    }
  }
  return accept();
}

export function validate_settings(): i32 {
  const settings = payload();
  if (asObject(settings) === null) return settingsInvalid("the settings must be a map");
  const exempt = member(settings, "exemptImages");
  if (!isPresent(exempt)) return settingsValid();
  if (exempt!.type !== JSON.Types.Array) return settingsInvalid("exemptImages must be a list");
  const images = asList(exempt);
  for (let i = 0; i < images.length; i++) {
    const image = asText(images[i]);
    if (image === null || image.length === 0) return settingsInvalid("exemptImages must hold texts that are not empty");
    const star = image.indexOf("*");
    if (star >= 0 && star < image.length - 1) return settingsInvalid(`exemptImages: * may only end a pattern, in ${image}`);
  }
  return settingsValid();
}

function isExempt(image: string, patterns: JSON.Value[]): bool {
  for (let i = 0; i < patterns.length; i++) {
    const pattern = asText(patterns[i]);
    if (pattern === null) continue;
    if (pattern.endsWith("*") ? image.startsWith(pattern.slice(0, -1)) : image == pattern) return true;
  }
  return false;
}
