import type { JsonObject } from "../../kubernetes/object.js";
import type { Eventual } from "../eventual.js";
import type { LookupFailure } from "../resources/resource-source.js";
import type { HttpQuestion, HttpSource } from "./http-source.js";

/** Answers that a test defines; others come from the next source (spec kyverno.md 8.6). Policies of a namespace get them, too. */
export class MockedHttp implements HttpSource {
  readonly #answers: ReadonlyMap<string, JsonObject>;
  readonly #behind: HttpSource;

  /** @param answers by `METHOD:url`, or by `url` for all methods */
  constructor(answers: ReadonlyMap<string, JsonObject>, behind: HttpSource) {
    this.#answers = answers;
    this.#behind = behind;
  }

  send(question: HttpQuestion): Eventual<JsonObject | LookupFailure> {
    const { method, url } = question;
    return this.#answers.get(`${method}:${url}`) ?? this.#answers.get(url) ?? this.#behind.send(question);
  }
}
