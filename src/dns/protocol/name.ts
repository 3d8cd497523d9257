/** Names between their wire form and the text that people write (RFC 1035, 5.1). Off the packet path. */
import { escapedAt } from './escapes.ts';

const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const BACKSLASH = 0x5c;
const DOT = 0x2e;

/** Says what about a name in text is no name. */
export class BadNameError extends Error {
  constructor(name: string, why: string) {
    super(`"${name}" is no domain name: ${why}`);
    this.name = 'BadNameError';
  }
}

const PLAIN_NAME = /^[A-Za-z0-9_*/-]{1,63}(\.[A-Za-z0-9_*/-]{1,63})*\.?$/;

/**
 * The wire form of `www.example.test` or `www.example.test.` (always absolute); `\.` and `\032` are understood, what is not ASCII
 * is written in UTF-8.
 */
export function nameToWire(name: string): Uint8Array {
  if (name.length < MAX_NAME_BYTES - 1 && PLAIN_NAME.test(name)) return plainToWire(name);
  const labels = labelsOf(name);
  // A dot at the end says that the name is absolute, which it is.
  if (labels.length > 1 && labels.at(-1)?.length === 0) labels.pop();
  if (labels.length === 1 && labels[0]?.length === 0) return Uint8Array.of(0);
  for (const label of labels) {
    if (label.length === 0) throw new BadNameError(name, 'a label is empty');
    if (label.length > MAX_LABEL_BYTES) throw new BadNameError(name, 'a label is longer than 63 characters');
  }
  const wire = Uint8Array.from([...labels.flatMap((label) => [label.length, ...label]), 0]);
  if (wire.length > MAX_NAME_BYTES) throw new BadNameError(name, 'it is longer than 255 octets');
  return wire;
}

/** Cut at dots that are not escaped. */
function labelsOf(name: string): number[][] {
  const text = Buffer.from(name);
  let label: number[] = [];
  const labels = [label];
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number; // at is below length
    if (byte === DOT) {
      label = [];
      labels.push(label);
    } else if (byte === BACKSLASH) {
      const escaped = escapedAt(text, at + 1);
      if (escaped === undefined) throw new BadNameError(name, 'a \\ stands before nothing it can escape');
      label.push(escaped.octet);
      at += escaped.bytes;
    } else label.push(byte);
  }
  return labels;
}

/** Without escapes every dot becomes the length of the label behind it. */
function plainToWire(name: string): Uint8Array {
  const length = name.endsWith('.') ? name.length - 1 : name.length;
  const wire = new Uint8Array(length + 2);
  let labelAt = 0;
  for (let i = 0; i < length; i++) {
    const byte = name.charCodeAt(i);
    wire[i + 1] = byte;
    if (byte === DOT) labelAt = i + 1;
    wire[labelAt] = i + 1 - labelAt;
  }
  return wire;
}

/** The text of an uncompressed name at `offset`, without the last dot (`.` for the root); lower case, all that is not plain as `\ddd`. */
export function nameToText(wire: Uint8Array, offset = 0): string {
  const labels: string[] = [];
  let at = offset;
  for (let size = wire[at] ?? 0; size !== 0 && size <= MAX_LABEL_BYTES; size = wire[at] ?? 0) {
    labels.push(Array.from(wire.subarray(at + 1, at + 1 + size), characterToText).join(''));
    at += size + 1;
  }
  return labels.length === 0 ? '.' : labels.join('.');
}

const PLAIN = /^[a-z0-9_*/-]$/;

function characterToText(byte: number): string {
  const character = String.fromCharCode(byte).toLowerCase();
  return byte < 0x80 && PLAIN.test(character) ? character : `\\${String(byte).padStart(3, '0')}`;
}
