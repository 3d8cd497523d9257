/** What a call that was reverted says of why. */
const ERROR_STRING = '08c379a0';
const PANIC = '4e487b71';
const WORD = 64;
/** A contract may write as much as it pays for. */
const MAX_CHARACTERS = 1_000;

/** The compiler's own, as Solidity documents them. */
const PANICS: Readonly<Record<number, string>> = {
  1: 'an assertion failed',
  17: 'arithmetic went over or under',
  18: 'division by zero',
  33: 'no such value of an enum',
  34: 'a byte array in storage is broken',
  49: 'pop of an empty array',
  50: 'index out of bounds',
  65: 'too much memory',
  81: 'call of a function that was never set',
};

/** `"Insufficient balance"`, `Panic 0x11: …`, `custom error 0x12345678`; undefined where nothing is said. */
export function revertReason(output: string | undefined): string | undefined {
  const hex = output?.slice(2) ?? '';
  if (hex.length < 8) return undefined;
  const selector = hex.slice(0, 8);
  const data = hex.slice(8);
  if (selector === PANIC && data.length >= WORD) {
    const code = Number.parseInt(data.slice(WORD - 8, WORD), 16);
    const words = PANICS[code];
    return `Panic 0x${code.toString(16).padStart(2, '0')}${words === undefined ? '' : `: ${words}`}`;
  }
  if (selector === ERROR_STRING) {
    const text = stringIn(data);
    if (text !== undefined) return JSON.stringify(text);
  }
  return `custom error 0x${selector}`;
}

/** The one string of ABI-coded parameters. */
function stringIn(data: string): string | undefined {
  const offset = wordAt(data, 0);
  const length = offset === undefined ? undefined : wordAt(data, offset * 2);
  if (offset === undefined || length === undefined) return undefined;
  const start = offset * 2 + WORD;
  const hex = data.slice(start, start + Math.min(length, MAX_CHARACTERS) * 2);
  if (hex.length < Math.min(length, MAX_CHARACTERS) * 2) return undefined;
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  return new TextDecoder().decode(bytes) + (length > MAX_CHARACTERS ? '…' : '');
}

/** A word of 32 bytes as a number that a place in the data can be; undefined where it is none. */
function wordAt(data: string, place: number): number | undefined {
  const word = data.slice(place, place + WORD);
  if (!/^0{56}[0-9a-f]{8}$/.test(word)) return undefined;
  return Number.parseInt(word, 16);
}
