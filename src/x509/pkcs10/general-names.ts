/** The second, generic reading of subjectAltName: names of all kinds, distinguished by the numbers of their tags alone (spec certificate-request-policy.md 1.2). */
import { type GeneralNames, MalformedRequest, type OtherName } from "./certification-request.js";
import { type Element, IDENTIFIER, onlyElement, TAG_NUMBER } from "./element.js";
import { oidOf } from "./primitives.js";
import { readNames } from "./subject.js";
import { asciiText, printableText, utf8Text } from "./text.js";

/** A tag of the context. */
const context = (number: number): number => 0x80 | number;
const constructed = (number: number): number => 0xa0 | number;

/** Numbers of the tags. */
const OTHER_NAME = 0;
const MAIL = 1;
const DNS = 2;
const X400_ADDRESS = 3;
const DIRECTORY_NAME = 4;
const EDI_PARTY_NAME = 5;
const URI = 6;
const ADDRESS = 7;
const REGISTERED_ID = 8;

/** The class of a tag, in its first octet. */
const CLASS = 0xc0;

/**
 * Go keeps the octets of such a text, which patterns and rules see in ways that no text here has: nothing certain can be said about it (docs/
 * certificate-request-policies.md).
 */
const NOT_UTF8 = "the value of an otherName is not valid UTF-8";

/** The value without the extension. */
export const NO_NAMES: GeneralNames = {
  otherNames: [],
  x400Addresses: 0,
  directoryNames: 0,
  ediPartyNames: 0,
  registeredIds: 0,
};

/** Reads the value of the extension. */
export function readGeneralNames(extension: Element): GeneralNames | { readonly undecodable: string } {
  const list = onlyElement(extension.inside(), IDENTIFIER.sequence);
  if (list instanceof MalformedRequest) return { undecodable: list.message };
  const otherNames: OtherName[] = [];
  const counts = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (const reader = list.inside(); !reader.atEnd; ) {
    const element = reader.next();
    if (element instanceof MalformedRequest) return { undecodable: element.message };
    const number = element.identifier & TAG_NUMBER;
    const name = readName(number, element);
    if (name instanceof MalformedRequest) return { undecodable: name.message };
    if (name !== undefined) otherNames.push(name);
    counts[number] = (counts[number] ?? 0) + 1;
  }
  const [, , , x400Addresses = 0, directoryNames = 0, ediPartyNames = 0, , , registeredIds = 0] = counts;
  return { otherNames, x400Addresses, directoryNames, ediPartyNames, registeredIds };
}

/** Reads a name: its problem, or the contents of an otherName. */
function readName(number: number, element: Element): OtherName | MalformedRequest | undefined {
  switch (number) {
    case OTHER_NAME:
      return readOtherName(element);
    case MAIL:
      return asciiText(element) === undefined ? new MalformedRequest("x509: SAN rfc822Name is malformed") : undefined;
    case DNS:
      return asciiText(element) === undefined ? new MalformedRequest("x509: SAN dNSName is malformed") : undefined;
    case X400_ADDRESS:
      return undefined;
    case DIRECTORY_NAME:
      return expected(element, constructed(DIRECTORY_NAME)) ?? problemOf(readNames(element.inside()));
    case EDI_PARTY_NAME:
      return expected(element, constructed(EDI_PARTY_NAME)) ?? partyNameProblem(element);
    case URI:
      return asciiText(element) === undefined
        ? new MalformedRequest("x509: SAN uniformResourceIdentifier is malformed")
        : undefined;
    case ADDRESS:
      return element.length === 4 || element.length === 16
        ? undefined
        : new MalformedRequest(`x509: cannot parse IP address of length ${element.length}`);
    case REGISTERED_ID:
      return expected(element, context(REGISTERED_ID)) ?? problemOf(oidOf(element));
    default:
      return new MalformedRequest("asn1: structure error: bad SAN choice");
  }
}

const problemOf = (value: unknown): MalformedRequest | undefined =>
  value instanceof MalformedRequest ? value : undefined;

const expected = (element: Element, identifier: number): MalformedRequest | undefined =>
  element.identifier === identifier ? undefined : new MalformedRequest("asn1: structure error: tags don't match");

function readOtherName(element: Element): OtherName | MalformedRequest {
  const problem = expected(element, constructed(OTHER_NAME));
  if (problem !== undefined) return problem;
  const reader = element.inside();
  const oid = oidOf(reader.expect(IDENTIFIER.oid));
  if (oid instanceof MalformedRequest) return oid;
  const value = reader.next();
  if (value instanceof MalformedRequest) return value;
  // Only an empty value need not be constructed, and it cannot be the last one.
  const isTagged = value.identifier === constructed(0) || (value.identifier === context(0) && value.length === 0);
  if (!isTagged || (value.length === 0 && value.end === element.end)) {
    return new MalformedRequest("asn1: structure error: explicitly tagged member didn't match");
  }
  const text = otherNameText(value);
  return text === undefined ? new MalformedRequest(NOT_UTF8) : { oid, value: text };
}

/** The text of a value, or its octets in hex; `undefined` for a text that is not UTF-8. */
function otherNameText(value: Element): string | undefined {
  const inner = value.inside().next();
  if (inner instanceof MalformedRequest) return value.der.toString("hex");
  const { identifier } = inner;
  if ((identifier & CLASS) === 0) {
    switch (identifier & TAG_NUMBER) {
      case IDENTIFIER.utf8String:
      case IDENTIFIER.printableString:
      case IDENTIFIER.ia5String:
      case IDENTIFIER.t61String:
        return utf8Text(inner);
    }
  }
  return inner.der.toString("hex");
}

/** The problem of an ediPartyName: an optional name of the assigner, and the name. */
function partyNameProblem(element: Element): MalformedRequest | undefined {
  const reader = element.inside();
  const names = reader.peek(context(0)) ? [reader.next()] : [];
  names.push(reader.expect(context(1)));
  for (const name of names) {
    if (name instanceof MalformedRequest) return name;
    if (printableText(name) === undefined) {
      return new MalformedRequest("asn1: syntax error: PrintableString contains invalid character");
    }
  }
  return undefined;
}
