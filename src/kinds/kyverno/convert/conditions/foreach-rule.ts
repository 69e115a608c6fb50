/** `validate.foreach`. */
import type { RuleWriter } from "../convert-rule.js";
import { NotConverted } from "../not-converted.js";

export const foreachRule: RuleWriter = () => {
  throw new NotConverted([], "to be written");
};
