/** Converts domain names between wire form and text (RFC 1035, 5.1). Not used in code that runs for every packet. */
import { escapedAt } from './escapes.ts';

const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const BACKSLASH = 0x5c;
const DOT = 0x2e;

/** Thrown if a text is not a valid domain name. The message contains the reason. */
export class BadNameError extends Error {
  constructor(name: string, why: string) {
    super(`"${name}" is not a domain name: ${why}`);
    this.name = 'BadNameError';
  }
}

const PLAIN_NAME = /^[A-Za-z0-9_*/-]{1,63}(\.[A-Za-z0-9_*/-]{1,63})*\.?$/;

/**
 * Converts a name such as `www.example.test` to wire form. The name is absolute, with or without a trailing dot.
 * Escapes (`\.`, `\032`) are resolved. Non-ASCII characters are encoded as UTF-8. Throws `BadNameError`.
 */
export function nameToWire(name: string): Uint8Array {
  if (name.length < MAX_NAME_BYTES - 1 && PLAIN_NAME.test(name)) return plainToWire(name);
  const labels = labelsOf(name);
  // A trailing dot marks the name as absolute, so the empty last label is dropped.
  if (labels.length > 1 && labels.at(-1)?.length === 0) labels.pop();
  if (labels.length === 1 && labels[0]?.length === 0) return Uint8Array.of(0);
  for (const label of labels) {
    if (label.length === 0) throw new BadNameError(name, 'a label is empty');
    if (label.length > MAX_LABEL_BYTES) throw new BadNameError(name, 'a label is longer than 63 octets');
  }
  const wire = Uint8Array.from([...labels.flatMap((label) => [label.length, ...label]), 0]);
  if (wire.length > MAX_NAME_BYTES) throw new BadNameError(name, 'it is longer than 255 octets');
  return wire;
}

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
      if (escaped === undefined) throw new BadNameError(name, 'invalid escape after \\');
      label.push(escaped.octet);
      at += escaped.bytes;
    } else label.push(byte);
  }
  return labels;
}

/** Converts a name without escapes to wire form: each dot becomes the length octet of the next label. */
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

/**
 * Converts the uncompressed name at `offset` from wire form to text: in lower case, and without a trailing dot. The
 * root becomes `.`. Octets other than letters, digits, `_`, `*`, `/` and `-` become `\ddd`.
 */
export function nameToText(wire: Uint8Array, offset = 0): string {
  const labels: string[] = [];
  let at = offset;
  for (let size = wire[at] ?? 0; size !== 0 && size <= MAX_LABEL_BYTES; size = wire[at] ?? 0) {
    const label = String.fromCharCode(...wire.subarray(at + 1, at + 1 + size));
    labels.push(label.replace(ESCAPED, escapedOctet).toLowerCase());
    at += size + 1;
  }
  return labels.length === 0 ? '.' : labels.join('.');
}

const ESCAPED = /[^A-Za-z0-9_*/-]/g;

const escapedOctet = (character: string): string => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`;
