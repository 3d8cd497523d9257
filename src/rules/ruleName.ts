/** Longest name of a rule, in characters (decisions A). */
export const MAX_NAME_CHARACTERS = 64;

// One spelling of both sets for ECMAScript and for the other readers of our OpenAPI document, whose regular
// expressions know no \p{…} and disagree about \s.
const blank = '\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
// Control and format characters, line and paragraph separators, private use, noncharacters. Lone surrogates
// are not here, as some readers refuse a pattern that names them: `checkRule` refuses them in every string.
const invisible =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f' +
  '\\ue000-\\uf8ff\\ufeff\\ufff0-\\ufffb\\ufffe\\uffff';
const edge = `[^${invisible}${blank}]`;
const inner = `[^${invisible}]`;

/** 1 to 64 visible characters, blanks around them ignored. For regular expressions with the `u` flag. */
export const namePattern = `^[${blank}]*${edge}(?:${inner}{0,${MAX_NAME_CHARACTERS - 2}}${edge})?[${blank}]*$`;

/** The name as it is stored: without the blanks around it, otherwise as it came. */
export function trimName(name: string): string {
  return name.trim();
}
