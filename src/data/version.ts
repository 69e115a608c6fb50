/** The version of this package, as package.json has it (a test holds both together): a constant, so that nobody needs the file beside the joined code. */
export const VERSION = "0.1.0";
