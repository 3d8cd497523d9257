import { type ParseContext, showPath } from './parseContext.ts';

/** Maximum number of characters of a response that an error quotes: enough to identify it, too short to flood a log. */
const MAX_QUOTED_CHARS = 60;

/** Thrown if a node's response is malformed. The message names the member, its value, and what was expected. */
export class TraceFormatError extends Error {
  override readonly name = 'TraceFormatError';
  /** Index of the invalid element, for example a trace; -1 if the error is not in an element of a list. */
  readonly index: number;
  /** Invalid member of the element, for example `action.gas`; empty if the whole element is invalid. */
  readonly member: string;
  /** What the member must be, and what it is, as text. */
  readonly problem: { readonly expected: string; readonly got: string };

  constructor(
    place: ParseContext,
    member: string,
    { expected, got }: { readonly expected: string; readonly got: unknown },
  ) {
    super(
      `${where(place)}${member === '' ? '' : `: ${member}`} must be ${expected}, the node sent ${quote(got)}`,
    );
    this.index = place.index;
    this.member = member;
    this.problem = { expected, got: quote(got) };
  }
}

function where(place: ParseContext): string {
  const element = place.index < 0 ? place.what : `${place.what} ${place.index}`;
  return place.path === undefined ? element : `${element}, frame ${showPath(place.path)}`;
}

function quote(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `"${plain(value, MAX_QUOTED_CHARS)}"`;
  return `${typeof value} ${plain(String(value), MAX_QUOTED_CHARS)}`;
}

/** Returns a text as printable ASCII of at most `maxChars` characters, which is safe for logs and terminals. */
export function plain(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars - 3)}...` : text;
  return cut.replace(/[^\x20-\x7e]/g, '?');
}
