/** `image`: data of images from registries (spec kyverno.md 4.5). The function of the same name is another thing (4.6). */
import { DYN, type FunctionDeclaration, opaqueType, STRING } from "../../../cel/index.js";
import { type Asking, asValue, methodsNamed } from "./context-value.js";

/** The type of `image`. */
export const IMAGE_CONTEXT = opaqueType("imagedata.Context");

/** The methods of `image`. */
export const imageMethods: readonly FunctionDeclaration[] = methodsNamed("GetMetadata", IMAGE_CONTEXT, [
  {
    id: "imagedata_get_string",
    params: [STRING],
    result: DYN,
    ask: ({ external }: Asking, reference: string) => asValue(external.image(reference), "failed to get image data"),
  },
]);
