/** Longest text of a client's that an error repeats; a transaction's hash is a little longer and still known by it. */
const MAX_LENGTH = 60;

/** A value as an error repeats it: cut where it is long, and only named where it has members of its own. */
export function quoted(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
