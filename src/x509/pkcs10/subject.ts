/** A subject: relative distinguished names, each a set of attributes (spec certificate-request-policy.md 1.2). */
import { MalformedRequest, type SubjectAttribute } from "./certification-request.js";
import { type Element, type ElementReader, IDENTIFIER } from "./element.js";
import { isBitString, isBoolean, isInt64, oidOf, oidText } from "./primitives.js";
import { TEXT_TYPES } from "./text.js";
import { isGeneralizedTime, isUtcTime } from "./times.js";

/** The attributes of the sets that a reader gives, one after the other. */
export function readNames(sets: ElementReader): readonly SubjectAttribute[] | MalformedRequest {
  const attributes: SubjectAttribute[] = [];
  while (!sets.atEnd) {
    const set = sets.expect(IDENTIFIER.set);
    if (set instanceof MalformedRequest) return set;
    for (const members = set.inside(); !members.atEnd; ) {
      const attribute = readAttribute(members.expect(IDENTIFIER.sequence));
      if (attribute instanceof MalformedRequest) return attribute;
      attributes.push(attribute);
    }
  }
  return attributes;
}

function readAttribute(element: Element | MalformedRequest): SubjectAttribute | MalformedRequest {
  if (element instanceof MalformedRequest) return element;
  const reader = element.inside();
  const oid = oidOf(reader.expect(IDENTIFIER.oid));
  if (oid instanceof MalformedRequest) return oid;
  const value = reader.next();
  if (value instanceof MalformedRequest) return value;
  const { identifier } = value;
  const type = TEXT_TYPES.get(identifier);
  if (type === undefined) {
    return isSound(identifier, value)
      ? { oid, value: undefined }
      : new MalformedRequest(`asn1: malformed value of ${oid}`);
  }
  const text = type.read(value);
  return text === undefined ? new MalformedRequest(type.problem) : { oid, value: text };
}

/** Whether a value that is no text is what its type says; of other types Go knows nothing. */
function isSound(identifier: number, value: Element): boolean {
  switch (identifier) {
    case IDENTIFIER.boolean:
      return isBoolean(value);
    case IDENTIFIER.integer:
      return isInt64(value);
    case IDENTIFIER.bitString:
      return isBitString(value);
    case IDENTIFIER.oid:
      return !(oidText(value) instanceof MalformedRequest);
    case IDENTIFIER.utcTime:
      return isUtcTime(value.text);
    case IDENTIFIER.generalizedTime:
      return isGeneralizedTime(value.text);
    default:
      return true;
  }
}
