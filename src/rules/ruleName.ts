/** Longest name of a rule, in characters. */
export const MAX_NAME_CHARACTERS = 64;

// One spelling of these sets for ECMAScript and for the other readers of our OpenAPI document, whose regular
// expressions know no \p{…} and disagree about \s. Above the basic plane the characters themselves stand in the pattern, as
// readers disagree about how to escape them, too.
const blank = '\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
// What renders as nothing, with which two names look the same: control and format characters, line and paragraph
// separators, fillers, variation selectors, blank patterns, private use, noncharacters. Lone surrogates are not here, as some
// readers refuse a pattern that names them: `ObjectChecker` refuses them in every string.
const invisible =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ue000-\\uf8ff\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\ufffe\\uffff' +
  '\u{13430}-\u{1343f}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}' +
  '\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}';
const edge = `[^${invisible}${blank}]`;
const inner = `[^${invisible}]`;

/** 1 to 64 visible characters, blanks around them ignored. For regular expressions with the `u` flag. */
export const namePattern = `^[${blank}]*${edge}(?:${inner}{0,${MAX_NAME_CHARACTERS - 2}}${edge})?[${blank}]*$`;

/** What a name may be, for messages. */
export const allowedName = `a string of 1 to ${MAX_NAME_CHARACTERS} visible characters`;

/** The name as it is stored: without the blanks around it, otherwise as it came. */
export function trimName(name: string): string {
  return name.trim();
}
