/** Image references (spec kyverno.md 4.6). */
import {
  BOOL,
  CelError,
  type FunctionDeclaration,
  opaqueType,
  type Result,
  STRING,
  type Type,
} from "../../../cel/index.js";
import { functions, growing, methodOf, SMALL } from "./declare.js";
import { ImageReference } from "./image-reference.js";

const IMAGE = opaqueType("kyverno.image");

const part = (name: string, id: string, result: Type, of: (image: ImageReference) => string | boolean) =>
  methodOf(name, id, [IMAGE], result, of, SMALL);

function isImage(text: string): Result {
  const image = ImageReference.parse(text);
  if (!(image instanceof CelError)) return true;
  return image.code === "too-large" ? image : false;
}

/** `parseImageReference`, its old name `image`, `isImage`, and the getters of a reference. */
export const IMAGE_FUNCTIONS: readonly FunctionDeclaration[] = [
  ...functions(["image"], "string_to_image_deprecated", [STRING], IMAGE, ImageReference.parse, growing(2)),
  ...functions(["parseImageReference"], "string_to_image", [STRING], IMAGE, ImageReference.parse, growing(2)),
  ...functions(["isImage"], "is_image_string", [STRING], BOOL, isImage, growing(2)),
  part("containsDigest", "image_contains_digest", BOOL, ({ digest }) => digest !== ""),
  part("registry", "image_registry", STRING, ({ registry }) => registry),
  part("repository", "image_repository", STRING, ({ repository }) => repository),
  part("identifier", "image_identifier", STRING, ({ identifier }) => identifier),
  part(
    "identifierWithSeparator",
    "image_identifier_with_separator",
    STRING,
    ({ identifierWithSeparator }) => identifierWithSeparator,
  ),
  part("tag", "image_tag", STRING, ({ tag }) => tag),
  part("digest", "image_digest", STRING, ({ digest }) => digest),
];
