// Judges any JSON, not Kubernetes objects: `{"user": …, "amount": …}`. Settings: `limits`, the highest amount by user, and `default`.
import { JSON } from "json-as";
import { asObject, asText, isPresent, member } from "policy-group-gateway/assemblyscript/json";
import { accept, payload, reject, settingsInvalid, settingsValid } from "policy-group-gateway/assemblyscript/policy";

export function validate(): i32 {
  const asked = payload();
  const request = member(asked, "request");
  const user = asText(member(request, "user"));
  if (user === null) return reject("the order names no user", 422);
  const amount = member(request, "amount");
  if (amount === null || amount.type !== JSON.Types.F64) return reject("the order has no amount", 422);
  const settings = member(asked, "settings");
  const own = member(member(settings, "limits"), user);
  const limit = own === null ? member(settings, "default") : own;
  if (limit === null) return reject(`user ${user} has no limit`, 403);
  if (amount.get<f64>() > limit.get<f64>()) return reject(`user ${user} may order for ${shown(limit)} at most`, 403);
  return accept();
}

/** A whole number without the `.0` that numbers have here. */
function shown(limit: JSON.Value): string {
  const text = limit.toString();
  return text.endsWith(".0") ? text.slice(0, -2) : text;
}

export function validate_settings(): i32 {
  const settings = payload();
  const fallback = member(settings, "default");
  if (isPresent(fallback) && fallback!.type !== JSON.Types.F64) return settingsInvalid("default must be a number");
  const limits = member(settings, "limits");
  if (!isPresent(limits)) return isPresent(fallback) ? settingsValid() : settingsInvalid("there must be limits or a default");
  const byUser = asObject(limits);
  if (byUser === null) return settingsInvalid("limits must be a map from user to number");
  const users = byUser.keys();
  for (let i = 0; i < users.length; i++) {
    if (byUser.get(users[i])!.type !== JSON.Types.F64) return settingsInvalid(`limits: ${users[i]} must have a number`);
  }
  return settingsValid();
}
