/** Maximum length of a client's text in an error message. A transaction hash is cut, but stays recognisable. */
const MAX_LENGTH = 60;

/** Formats a value for an error message. Cuts long strings. Lists and objects become `a list` and `an object`. */
export function quoted(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
