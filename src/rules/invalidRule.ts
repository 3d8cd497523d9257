/**
 * Fault of a request body: a message that names the allowed values, and a JSON pointer to the invalid member. The
 * pointer is omitted if the whole body is invalid.
 */
export interface Fault {
  readonly pointer?: string;
  readonly message: string;
}

/** The request body is not a valid rule or change of a rule. The error contains all faults of the body. */
export class InvalidRule extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => fault.message).join('; '));
    this.name = 'InvalidRule';
    this.faults = faults;
  }
}

/** Returns the JSON pointer to a member, escaping `~` and `/` (RFC 6901). */
export function pointerTo(member: string): string {
  return `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the fault of a period that ends before it starts: it would select nothing, whatever happened. */
export const periodFaults = <Time extends string | number>(since?: Time, until?: Time): readonly Fault[] =>
  since !== undefined && until !== undefined && since > until
    ? [{ pointer: pointerTo('since'), message: 'since must not be after until' }]
    : [];

/** Maximum number of characters that an error message quotes from a text of the client. */
const MAX_SHOWN_CHARACTERS = 64;

/** Returns a string of the client in quotes, truncated so that an error message can contain it. */
export function quoteText(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_SHOWN_CHARACTERS)];
  if (text.length === characters.length && characters.length <= MAX_SHOWN_CHARACTERS)
    return JSON.stringify(text);
  const cut = characters.slice(0, MAX_SHOWN_CHARACTERS).join('');
  return cut.length === text.length ? JSON.stringify(text) : `${JSON.stringify(cut)}…`;
}

/** Describes a received JSON value in a few words. Nested values are not visited, because they may be very deep. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return quoteText(value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : String(value);
}
