/** Work that several do side by side, with the answers in the order of the questions. */

/**
 * @param ahead how many questions are under way at a time: what they and their answers take of memory is bounded by it
 */
export async function* inOrder<Q, A>(
  questions: AsyncIterable<Q>,
  answer: (question: Q) => Promise<A>,
  ahead: number,
): AsyncGenerator<A> {
  const waiting: Promise<A>[] = [];
  for await (const question of questions) {
    const coming = answer(question);
    // Its turn to be looked at comes later; until then a failure is nobody's.
    coming.catch(() => {});
    waiting.push(coming);
    const [first] = waiting;
    if (waiting.length < ahead || first === undefined) continue;
    waiting.shift();
    yield await first;
  }
  for (const coming of waiting) yield await coming;
}
