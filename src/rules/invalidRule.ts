/** One fault of a body: where (a JSON pointer; none where the body as a whole is at fault) and what is allowed. */
export interface Fault {
  readonly pointer?: string;
  readonly message: string;
}

/** What a caller sent is no rule, or no change of a rule. Carries every fault found. */
export class InvalidRule extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map((fault) => fault.message).join('; '));
    this.name = 'InvalidRule';
    this.faults = faults;
  }
}

/** RFC 6901: `~` and `/` in a name are escaped. */
export function pointerTo(member: string): string {
  return `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Longest part of a caller's text that a message shows. */
const MAX_SHOWN_CHARACTERS = 64;

/** A caller's text, cut to what a message can carry. */
export function shown(text: string): string {
  const characters = [...text.slice(0, 2 * MAX_SHOWN_CHARACTERS)];
  if (text.length === characters.length && characters.length <= MAX_SHOWN_CHARACTERS)
    return JSON.stringify(text);
  const cut = characters.slice(0, MAX_SHOWN_CHARACTERS).join('');
  return cut.length === text.length ? JSON.stringify(text) : `${JSON.stringify(cut)}…`;
}

/** What came, in a few words. Never walks into it: it may be nested as deep as the body is long. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return shown(value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : String(value);
}
