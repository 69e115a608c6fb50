/** Runs work concurrently, with the answers in the order of the questions. */

/** @param ahead most questions under way at a time, which bounds the memory of questions and answers */
export async function* inOrder<Q, A>(
  questions: AsyncIterable<Q>,
  answer: (question: Q) => Promise<A>,
  ahead: number,
): AsyncGenerator<A> {
  const waiting: Promise<A>[] = [];
  for await (const question of questions) {
    const coming = answer(question);
    // It is awaited later; until then a failure must not count as unhandled.
    coming.catch(() => {});
    waiting.push(coming);
    const [first] = waiting;
    if (waiting.length < ahead || first === undefined) continue;
    waiting.shift();
    yield await first;
  }
  for (const coming of waiting) yield await coming;
}
