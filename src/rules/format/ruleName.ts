export const MAX_NAME_CHARACTERS = 64;

// Characters are listed as ranges, because users of the OpenAPI document interpret \p{…} and \s differently.
// Characters above U+FFFF are literal, because their escapes are interpreted differently too.
const blank = '\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
// Invisible characters, which would make different names look equal: control and format characters, line and paragraph
// separators, fillers, variation selectors, blank patterns, private use, noncharacters. `ObjectChecker` rejects lone
// surrogates, as some regular expression engines reject patterns with them.
const invisible =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ue000-\\uf8ff\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\ufffe\\uffff' +
  '\u{13430}-\u{1343f}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}' +
  '\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}';
const edge = `[^${invisible}${blank}]`;
const inner = `[^${invisible}]`;

/** Pattern of a rule name: 1 to 64 visible characters, and optional surrounding blanks. Requires the `u` flag. */
export const namePattern = `^[${blank}]*${edge}(?:${inner}{0,${MAX_NAME_CHARACTERS - 2}}${edge})?[${blank}]*$`;

/** Description of a valid rule name, for error messages. */
export const allowedName = `a string of 1 to ${MAX_NAME_CHARACTERS} visible characters`;

/** Description of a valid name of a region or datacenter, for error messages. */
export const allowedLocation = `a string of 1 to ${MAX_NAME_CHARACTERS} visible ASCII characters without spaces`;

/**
 * Returns whether a trimmed name is valid for a region or datacenter. Only ASCII has the same lower case in every
 * language and library.
 */
export const isLocationName = (name: string): boolean => /^[!-~]+$/.test(name);

/** Returns a rule name as it is stored: without surrounding blanks, otherwise unchanged. */
export function trimName(name: string): string {
  return name.trim();
}
