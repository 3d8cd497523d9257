import { type Place, showPath } from './place.ts';

/** Longest excerpt of a node's answer that an error quotes, in characters: enough to see what it is, too short to flood a log. */
const MAX_QUOTED_CHARS = 60;

/** A node answered something that is not what it was asked for. The message names the member, what came and what must come. */
export class TraceFormatError extends Error {
  override readonly name = 'TraceFormatError';
  /** Place in the answer, from 0; -1 where the answer as a whole or its only part is at fault. */
  readonly index: number;
  /** The member at fault, such as `action.gas`; empty for the whole element. */
  readonly member: string;

  constructor(
    place: Place,
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

function where(place: Place): string {
  const element = place.index < 0 ? place.what : `${place.what} ${place.index}`;
  return place.path === undefined ? element : `${element}, frame ${showPath(place.path)}`;
}

/** Any value from outside as short plain text. */
function quote(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `"${plain(value, MAX_QUOTED_CHARS)}"`;
  return `${typeof value} ${plain(String(value), MAX_QUOTED_CHARS)}`;
}

/** Printable ASCII only, and no longer than `maxChars`: safe for logs and terminals. */
export function plain(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars - 3)}...` : text;
  return cut.replace(/[^\x20-\x7e]/g, '?');
}
