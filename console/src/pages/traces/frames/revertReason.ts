const ERROR_STRING = '08c379a0';
const PANIC = '4e487b71';
const WORD = 64;
/** Maximum number of bytes of a reason that are decoded, because the contract chooses the length. */
const MAX_CHARACTERS = 1_000;

/** Meanings of Solidity's panic codes, from its documentation. */
const PANICS: Readonly<Record<number, string>> = {
  1: 'assertion failed',
  17: 'arithmetic overflow or underflow',
  18: 'division by zero',
  33: 'invalid enum value',
  34: 'invalid storage byte array',
  49: 'pop from an empty array',
  50: 'index out of bounds',
  65: 'memory allocation too large',
  81: 'call of an uninitialised function',
};

/** Returns the reason in a call's output: `"Insufficient balance"`, `Panic 0x11: …`, `custom error 0x12345678`. */
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
    const text = textIn(data);
    if (text !== undefined) return JSON.stringify(text);
  }
  return `custom error 0x${selector}`;
}

/** Returns the string that the ABI encodes as the only value; undefined if the data has another form. */
export function textIn(data: string): string | undefined {
  const offset = wordAt(data, 0);
  const length = offset === undefined ? undefined : wordAt(data, offset * 2);
  if (offset === undefined || length === undefined) return undefined;
  const start = offset * 2 + WORD;
  const hex = data.slice(start, start + Math.min(length, MAX_CHARACTERS) * 2);
  if (hex.length < Math.min(length, MAX_CHARACTERS) * 2) return undefined;
  return decodeText(hex) + (length > MAX_CHARACTERS ? '…' : '');
}

/** Returns the text that hex digits encode as UTF-8. */
export const decodeText = (hex: string): string =>
  new TextDecoder().decode(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));

/** Returns the offset or length in a 32-byte word; undefined if the word is missing or its number is 2^32 or more. */
function wordAt(data: string, place: number): number | undefined {
  const word = data.slice(place, place + WORD);
  if (!/^0{56}[0-9a-f]{8}$/.test(word)) return undefined;
  return Number.parseInt(word, 16);
}
