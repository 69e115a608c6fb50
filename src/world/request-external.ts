/** External data as one request sees it (disposable): every question is put once, also when it is answered at once. */

import type { Waiting } from "../cel/index.js";
import type { GroupVersionResource } from "../kubernetes/names.js";
import type { JsonObject } from "../kubernetes/object.js";
import type { Eventual } from "./eventual.js";
import type { ExternalData } from "./external.js";
import type { HttpQuestion } from "./http/http-source.js";
import type { EqualLabels, ObjectPlace } from "./objects/object-source.js";
import type { LookupFailure } from "./resources/resource-source.js";

/** Puts a question unless it was put before. */
type Ask = <T>(key: string, put: () => Eventual<T | LookupFailure>) => T | LookupFailure | Waiting;

/** What an answer comes to: {@link Waiting} while it is on its way. */
export type Answered<T> = T | LookupFailure | Waiting;

/** Asks for a request. All as in the sources; equal questions of one request have one answer. */
export class RequestExternal {
  readonly #data: ExternalData;
  readonly #ask: Ask;

  constructor(data: ExternalData, ask: Ask) {
    this.#data = data;
    this.#ask = ask;
  }

  get(place: ObjectPlace, name: string): Answered<JsonObject | undefined> {
    return this.#ask(keyOf("object", place, name), () => this.#data.objects.get(place, name));
  }

  list(place: ObjectPlace, labels: EqualLabels): Answered<JsonObject> {
    return this.#ask(keyOf("objects", place, labels), () => this.#data.objects.list(place, labels));
  }

  /** @param text the object in JSON, which tells it from others */
  create(place: ObjectPlace, object: JsonObject, text: string): Answered<JsonObject> {
    return this.#ask(keyOf("create", place, text), () => this.#data.objects.create(place, object));
  }

  resourceOf(apiVersion: string, kind: string): Answered<GroupVersionResource> {
    return this.#ask(keyOf("resource of", apiVersion, kind), () => this.#data.objects.resourceOf(apiVersion, kind));
  }

  send(question: HttpQuestion): Answered<JsonObject> {
    return this.#ask(keyOf("http", question), () => this.#data.http.send(question));
  }

  image(reference: string): Answered<JsonObject> {
    return this.#ask(keyOf("image", reference), () => this.#data.images.metadata(reference));
  }

  entry(name: string, projection: string): Answered<unknown> {
    return this.#ask(keyOf("entry", name, projection), () => this.#data.entries.get(name, projection));
  }
}

/** JSON keeps parts apart, whatever stands in them. */
const keyOf = (what: string, ...parts: readonly unknown[]): string => `${what} ${JSON.stringify(parts)}`;
