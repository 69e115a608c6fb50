/** Usages of certificates, for the command line: it is read before anything of policies is loaded. */
import { didYouMean } from "../../data/suggest.js";
import { USAGES } from "../../kinds/certificate-request-policy/words.js";

/** What is wrong with usages, where a cluster would not take them. */
export function unknownUsage(usages: readonly string[]): string | undefined {
  const unknown = usages.find((usage) => !(USAGES as readonly string[]).includes(usage));
  if (unknown === undefined) return undefined;
  return `there is no usage '${unknown}'${didYouMean(unknown, USAGES) || `: there are ${USAGES.join(", ")}`}`;
}
