/** `validate.deny`. */
import type { RuleWriter } from "../convert-rule.js";
import { NotConverted } from "../not-converted.js";

export const denyRule: RuleWriter = () => {
  throw new NotConverted([], "to be written");
};
