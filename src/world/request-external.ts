/** External data for one request (disposable): every question is put once, even when its answer is known at once. */

import type { Waiting } from "../cel/index.js";
import { jsonWeight } from "../data/json-weight.js";
import { SmallMap } from "../data/small-map.js";
import type { GroupVersionResource } from "../kubernetes/names.js";
import type { JsonObject } from "../kubernetes/object.js";
import { andThen, type Eventual } from "./eventual.js";
import type { ExternalData } from "./external.js";
import type { HttpQuestion } from "./http/http-source.js";
import { type AttestorVerdict, type ImageAccess, type TrustQuestion, wordOf } from "./images/image-trust.js";
import type { EqualLabels, ObjectPlace } from "./objects/object-source.js";
import { LookupFailure } from "./resources/resource-source.js";

/** Memory for all answers of one request, in bytes: enough for the longest list, since values take three times the memory of their text. */
export const MAX_ANSWERS_BYTES = 32 * 1024 * 1024;

/** Most verdicts of a request that are looked through for a question: that takes less time than making its key. */
const MAX_VERDICTS_AT_HAND = 16;

/** Puts a question unless it was put before. */
type Ask = <T>(key: string, put: () => Eventual<T | LookupFailure>) => T | LookupFailure | Waiting;

/** The result of a question: {@link Waiting} until it arrives. */
export type Answered<T> = T | LookupFailure | Waiting;

/** Asks the sources for one request; equal questions have one answer. */
export class RequestExternal {
  readonly #data: ExternalData;
  readonly #put: Ask;
  readonly #refuse: (reason: string) => LookupFailure;
  readonly #note: (detail: string) => void;
  readonly #isUnasked: () => boolean;
  #room = MAX_ANSWERS_BYTES;
  /** Of images. Made at first use. */
  #digests: SmallMap<{ readonly digest: string; readonly access: ImageAccess }> | undefined;
  /** The first verdicts, as far as they were known at once. */
  readonly #verdicts: { readonly question: TrustQuestion; readonly verdict: AttestorVerdict }[] = [];

  /**
   * @param refuse fails the request, whatever the policies' results
   * @param note adds a detail for the log
   * @param isUnasked whether the request has not put a question yet: then what is known at once needs none
   */
  constructor(
    data: ExternalData,
    ask: Ask,
    refuse: (reason: string) => LookupFailure,
    note: (detail: string) => void,
    isUnasked: () => boolean,
  ) {
    this.#isUnasked = isUnasked;
    this.#note = note;
    this.#data = data;
    this.#put = ask;
    this.#refuse = refuse;
  }

  /** Asks, and counts the size of answers: the sources limit their number, and each, but not all together. */
  #ask<T>(key: string, put: () => Eventual<T | LookupFailure>): Answered<T> {
    return this.#put<T>(key, () => andThen(put(), (answer) => this.#counted(answer)));
  }

  #counted<T>(answer: T | LookupFailure): T | LookupFailure {
    if (answer instanceof LookupFailure) return answer;
    this.#room -= jsonWeight(answer, this.#room);
    return this.#room < 0 ? this.#refuse(`all answers take more than ${MAX_ANSWERS_BYTES} bytes`) : answer;
  }

  get(place: ObjectPlace, name: string): Answered<JsonObject | undefined> {
    return this.#ask(keyOf("object", place, name), () => this.#data.objects.get(place, name));
  }

  list(place: ObjectPlace, labels: EqualLabels): Answered<JsonObject> {
    return this.#ask(keyOf("objects", place, labels), () => this.#data.objects.list(place, labels));
  }

  /** @param text the object in JSON, which identifies it */
  create(place: ObjectPlace, object: JsonObject, text: string): Answered<JsonObject> {
    return this.#ask(keyOf("create", place, text), () => this.#data.objects.create(place, object));
  }

  resourceOf(apiVersion: string, kind: string): Answered<GroupVersionResource> {
    return this.#ask(keyOf("resource of", apiVersion, kind), () => this.#data.objects.resourceOf(apiVersion, kind));
  }

  send(question: HttpQuestion): Answered<JsonObject> {
    return this.#ask(keyOf("http", question), () => this.#data.http.send(question));
  }

  /** @param access that of a policy whose questions are all about one digest */
  image(reference: string, access?: ImageAccess): Answered<JsonObject> {
    const key = keyOf("image", reference, access && wordOf(access));
    const checked = (found: JsonObject | LookupFailure): JsonObject | LookupFailure => {
      if (access === undefined || found instanceof LookupFailure || typeof found.digest !== "string") return found;
      const digest = this.#oneDigest(reference, found.digest, access);
      return digest instanceof LookupFailure ? digest : found;
    };
    return this.#ask(key, () => andThen(this.#data.images.metadata(reference, access), checked));
  }

  /** The digest of an image. Within the request it is that of all policies: one of them must not verify what another one has not seen. */
  imageDigest(image: string, access: ImageAccess): Answered<string> {
    const known = this.#digests?.get(image);
    if (known !== undefined && (known.access === access || wordOf(known.access) === wordOf(access)))
      return known.digest;
    const { trust } = this.#data;
    const found = this.#isUnasked() ? trust.digest(image, access) : undefined;
    if (typeof found === "string") return this.#oneDigest(image, found, access);
    const put = (): Eventual<string | LookupFailure> =>
      andThen(found ?? trust.digest(image, access), (digest) =>
        digest instanceof LookupFailure ? digest : this.#oneDigest(image, digest, access),
      );
    return this.#ask(`digest ${wordOf(access)} ${image}`, put);
  }

  #oneDigest(image: string, digest: string, access: ImageAccess): string | LookupFailure {
    this.#digests ??= new SmallMap();
    const first = this.#digests.get(image)?.digest ?? digest;
    if (first !== digest) return new LookupFailure("the tag of the image has moved to another digest meanwhile");
    this.#digests.set(image, { digest, access });
    return digest;
  }

  /** The verdict about the digest that {@link imageDigest} gives. The reasons of one that is not verified are noted for the log. */
  imageVerdict(question: TrustQuestion): Answered<AttestorVerdict> {
    const { image, attestor, sought, access } = question;
    const digest = this.imageDigest(image, access);
    if (typeof digest !== "string") return digest;
    for (const { question: other, verdict } of this.#verdicts)
      if (other.attestor === attestor && other.sought === sought && other.access === access && other.image === image)
        return verdict;
    const asked = { image, digest, attestor, sought, access };
    const { trust } = this.#data;
    const found = this.#isUnasked() ? trust.verdict(asked) : undefined;
    const isKnown = found !== undefined && !(found instanceof Promise) && !(found instanceof LookupFailure);
    if (isKnown) {
      // It is kept for all requests, and counts for none.
      if (this.#verdicts.length < MAX_VERDICTS_AT_HAND) this.#verdicts.push({ question: asked, verdict: found });
      return this.#noted(found, asked);
    }
    const put = (): Eventual<AttestorVerdict | LookupFailure> =>
      andThen(found ?? trust.verdict(asked), (verdict) => this.#noted(verdict, asked));
    return this.#ask(`verdict ${wordOf(attestor)} ${wordOf(sought)} ${wordOf(access)} ${image}`, put);
  }

  #noted<V extends AttestorVerdict | LookupFailure>(verdict: V, { image, attestor }: TrustQuestion): V {
    if (!(verdict instanceof LookupFailure || verdict.verified))
      this.#note(`${image} is not verified by ${attestor.name}: ${verdict.reasons.join(", ")}`);
    return verdict;
  }

  artifact(image: string, artifactType: string, access: ImageAccess): Answered<unknown> {
    const digest = this.imageDigest(image, access);
    if (typeof digest !== "string") return digest;
    const put = (): Eventual<unknown> => this.#data.trust.artifact(image, digest, artifactType, access);
    return this.#ask(keyOf("artifact", image, artifactType, wordOf(access)), put);
  }

  entry(name: string, projection: string): Answered<unknown> {
    // Shared by all requests, so that it does not count for one.
    return this.#put(keyOf("entry", name, projection), () => this.#data.entries.get(name, projection));
  }
}

/** A key in JSON, which keeps the parts apart, whatever they contain. */
const keyOf = (what: string, ...parts: readonly unknown[]): string => `${what} ${JSON.stringify(parts)}`;
