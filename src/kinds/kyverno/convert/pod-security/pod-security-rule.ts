/** `validate.podSecurity`: the controls of the Pod Security Standards. */
import type { RuleWriter } from "../convert-rule.js";
import { NotConverted } from "../not-converted.js";

export const podSecurityRule: RuleWriter = () => {
  throw new NotConverted([], "to be written");
};
