/** Globs over references of images, as Kyverno reads them: `*` also stands for slashes (spec kyverno.md 9). */
export function globMatcher(glob: string): ((image: string) => boolean) | { readonly error: string } {
  const source = glob
    .replace(/[.+^$()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, "[^]*")
    .replace(/\?/g, "[^]");
  const regexp = new RegExp(`^${source}$`);
  return (image) => regexp.test(image);
}
