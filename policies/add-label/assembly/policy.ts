// Adds a label to every object that lacks it. Settings: `label` and `value`.
// The object is handled as JSON text, member by member: numbers and texts that the policy has no business with stay as they are.
import { Host } from "@extism/as-pdk";
import { JSON } from "json-as";
import { asText, isPresent, member } from "policy-group-gateway/assemblyscript/json";
import { accept, members, mutate, payload, settingsInvalid, settingsValid } from "policy-group-gateway/assemblyscript/policy";

/** Longest label value that Kubernetes accepts. */
const VALUE_LENGTH = 63;

export function validate(): i32 {
  const asked = members(Host.inputString());
  const settings = JSON.parse<JSON.Value>(asked.get("settings").toString());
  const label = asText(member(settings, "label"))!;
  const value = asText(member(settings, "value"))!;
  const request = members(asked.get("request").toString());
  if (!has(request, "object")) return accept();
  const object = members(request.get("object").toString());
  const metadata = has(object, "metadata") ? members(object.get("metadata").toString()) : new Map<string, JSON.Raw>();
  const labels = has(metadata, "labels") ? members(metadata.get("labels").toString()) : new Map<string, JSON.Raw>();
  if (labels.has(label)) return accept();
  labels.set(label, new JSON.Raw(JSON.stringify(value)));
  metadata.set("labels", new JSON.Raw(JSON.stringify(labels)));
  object.set("metadata", new JSON.Raw(JSON.stringify(metadata)));
  return mutate(JSON.stringify(object));
}

export function validate_settings(): i32 {
  const settings = payload();
  const label = asText(member(settings, "label"));
  if (label === null || label.length == 0) return settingsInvalid("label must be a text that is not empty");
  if (!isPresent(member(settings, "value"))) return settingsInvalid("value is missing");
  const value = asText(member(settings, "value"));
  if (value === null) return settingsInvalid("value must be a text");
  if (value.length > VALUE_LENGTH) return settingsInvalid(`value must not be longer than ${VALUE_LENGTH} characters`);
  return settingsValid();
}

function has(map: Map<string, JSON.Raw>, key: string): bool {
  return map.has(key) && map.get(key).toString() != "null";
}
