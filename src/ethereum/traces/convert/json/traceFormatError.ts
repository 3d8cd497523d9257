import { type ParseContext, showPath } from './parseContext.ts';

/** Maximum number of characters of a response that an error quotes: enough to identify it, too short to flood a log. */
const MAX_QUOTED_CHARS = 60;

/** Thrown for a malformed response of a node. The message contains the member, its value and the expected form. */
export class TraceFormatError extends Error {
  override readonly name = 'TraceFormatError';
  /** Index of the element; -1 if the fault concerns the whole response or its only element. */
  readonly index: number;
  /** Invalid member, for example `action.gas`; empty for the whole element. */
  readonly member: string;

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

/** Returns the string as printable ASCII, truncated to `maxChars`: safe for logs and terminals. */
export function plain(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars - 3)}...` : text;
  return cut.replace(/[^\x20-\x7e]/g, '?');
}
