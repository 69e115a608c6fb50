/**
 * Ends an evaluation; thrown, because no part of an expression can absorb it. `limit` is that of cost, `size` one of the engine's own. `fault` is an
 * error that ends the reference implementation's evaluation too, with `message` as its text.
 */
export class Interruption {
  constructor(
    readonly reason: "limit" | "size" | "deadline" | "waiting" | "fault",
    readonly message?: string,
  ) {}
}
