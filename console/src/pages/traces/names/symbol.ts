import { decodeText, textIn } from '../frames/revertReason.ts';

const MAX_CHARACTERS = 32;

/** Returns the text in the output of `symbol()`, which is a string, or 32 bytes in old contracts. */
export function symbolIn(output: string): string | undefined {
  const hex = output.slice(2);
  const text = hex.length === 64 ? decodeText(hex.replace(/(00)+$/, '')) : textIn(hex);
  const short = [...(text ?? '').trim()].slice(0, MAX_CHARACTERS).join('');
  return short === '' ? undefined : short;
}
