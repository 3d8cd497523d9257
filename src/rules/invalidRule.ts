/** Fault of a request body: a JSON pointer (omitted if the whole body is invalid) and a message with the allowed values. */
export interface Fault {
  readonly pointer?: string;
  readonly message: string;
}

/** The request is not a valid rule or change of a rule. Contains all faults. */
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

/** Maximum number of characters of client text quoted in a message. */
const MAX_SHOWN_CHARACTERS = 64;

/** Quotes a client's string, truncated for use in a message. */
export function quoteText(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_SHOWN_CHARACTERS)];
  if (text.length === characters.length && characters.length <= MAX_SHOWN_CHARACTERS)
    return JSON.stringify(text);
  const cut = characters.slice(0, MAX_SHOWN_CHARACTERS).join('');
  return cut.length === text.length ? JSON.stringify(text) : `${JSON.stringify(cut)}…`;
}

/** Describes a received value in a few words, without descending into it, because it may be nested very deeply. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return quoteText(value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : String(value);
}
