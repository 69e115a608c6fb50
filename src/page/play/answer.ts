/** The playground's side of the messages. */
import { PageError, type Playground } from "../playground.js";
import type { PlayMessage, PlayReply } from "./messages.js";

/** Answers a message; never rejects. */
export async function answerMessage(playground: Playground, message: PlayMessage): Promise<PlayReply> {
  const { id } = message;
  try {
    return { id, answer: await asked(playground, message) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { id, error: text, ...(error instanceof PageError && { status: error.status }) };
  }
}

function asked(playground: Playground, message: PlayMessage) {
  const { generation } = message;
  if (isOf("check", message)) return playground.check(message.question, generation);
  if (isOf("evaluate", message)) return playground.evaluate(message.question, generation);
  return playground.sources(generation);
}

const isOf = <K extends PlayMessage["kind"]>(kind: K, message: PlayMessage): message is PlayMessage<K> =>
  message.kind === kind;
