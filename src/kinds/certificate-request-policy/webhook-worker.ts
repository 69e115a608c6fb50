/** The thread in which policies are checked: rules of a stranger may take long to compile. */
import { parentPort } from "node:worker_threads";
import { createRuleCompiler } from "./dialect.js";
import { answerAdmission, type PolicyAdmission, type PolicyAnswer } from "./webhook.js";

/** Longest message, in UTF-16 units: the API server accepts answers of 3 MiB, and people read much less. */
const MAX_MESSAGE = 256 * 1024;

parentPort?.on("message", (request: PolicyAdmission) => {
  // Kept for one request only: the next question may be about another kind.
  const answer = answerAdmission(request, { compiler: createRuleCompiler() });
  parentPort?.postMessage(cut(answer));
});

function cut(answer: PolicyAnswer): PolicyAnswer {
  const { message } = answer;
  if (message === undefined || message.length <= MAX_MESSAGE) return answer;
  return { ...answer, message: `${message.slice(0, MAX_MESSAGE).toWellFormed()}…` };
}
