/** Maximum length of a client's text in an error. A transaction hash of this length is still recognisable. */
const MAX_LENGTH = 60;

/** Returns a value for an error message. Long strings are truncated. Lists and objects become their type. */
export function quoted(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
