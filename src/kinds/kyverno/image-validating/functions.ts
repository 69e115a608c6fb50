/** The functions about signatures of images (spec kyverno.md 9). */
import {
  CelError,
  DYN,
  type FunctionDeclaration,
  INT,
  listType,
  type Result,
  STRING,
  type Type,
  type Value,
  type Waiting,
} from "../../../cel/index.js";
import type { ImageCalls, KyvernoState } from "../state.js";

const ATTESTORS = listType(DYN);

const declared = (name: keyof ImageCalls, id: string, params: readonly Type[], result: Type): FunctionDeclaration => ({
  name,
  overloads: [
    {
      id,
      member: false,
      params,
      result,
      call(state, ...args): Result | Waiting {
        const { images } = state as KyvernoState;
        if (images === undefined) return new CelError("there are no images in match conditions");
        return (images[name] as (...args: readonly Value[]) => Result | Waiting).call(images, ...args);
      },
    },
  ],
});

/** The functions; their state has {@link ImageCalls}. */
export const IMAGE_SIGNATURE_FUNCTIONS: readonly FunctionDeclaration[] = [
  declared("verifyImageSignatures", "verify_image_signature_string_stringarray", [STRING, ATTESTORS], INT),
  declared(
    "verifyAttestationSignatures",
    "verify_image_attestations_string_string_stringarray",
    [STRING, STRING, ATTESTORS],
    INT,
  ),
  declared("getImageData", "get_image_data_string", [STRING], DYN),
  declared("extractPayload", "payload_string_string", [STRING, STRING], DYN),
];
