/**
 * The names that `\\p{…}` takes: general categories, their long names and scripts, compared without case, spaces, `_` and `-`.
 * Scripts whose usual spelling has an underscore or a second capital are not found by the reference, so they are missing here too.
 */
const CATEGORIES = `
C Cc Cf Cn Co Cs L LC Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
`;

const LONG_NAMES = `
Casedletter=LC Closepunctuation=Pe Cntrl=Cc Combiningmark=M Connectorpunctuation=Pc Control=Cc Currencysymbol=Sc
Dashpunctuation=Pd Decimalnumber=Nd Digit=Nd Enclosingmark=Me Finalpunctuation=Pf Format=Cf
Initialpunctuation=Pi Letter=L Letternumber=Nl Lineseparator=Zl Lowercaseletter=Ll Mark=M Mathsymbol=Sm
Modifierletter=Lm Modifiersymbol=Sk Nonspacingmark=Mn Number=N Openpunctuation=Ps Other=C Otherletter=Lo
Othernumber=No Otherpunctuation=Po Othersymbol=So Paragraphseparator=Zp Privateuse=Co Punct=P Punctuation=P
Separator=Z Spaceseparator=Zs Spacingmark=Mc Surrogate=Cs Symbol=S Titlecaseletter=Lt Unassigned=Cn
Uppercaseletter=Lu
`;

const SCRIPTS = `
Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid
Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra
Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo
Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao
Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao
Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene
Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac
Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai
Vithkuqi Wancho Yezidi Yi
`;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const fold = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, "");

const byFoldedName: ReadonlyMap<string, string> = new Map([
  ...words(LONG_NAMES)
    .map((pair) => pair.split("=") as [string, string])
    .map(([long, short]) => [fold(long), short] as const),
  ...words(SCRIPTS).map((name) => [fold(name), name] as const),
  ...words(CATEGORIES).map((name) => [fold(name), name] as const),
  ["any", "Any"] as const,
  ["assigned", "Assigned"] as const,
  ["ascii", "ASCII"] as const,
]);

/** The proper spelling of a name of a Unicode class; `undefined` when there is no such class. */
export const unicodeClassName = (name: string): string | undefined => byFoldedName.get(fold(name));
