/** Ranges and templates of $GENERATE, with the syntax and the results of BIND. */

/** Thrown if a range or a template is invalid. The message names the value and what is allowed. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

interface Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  /** Number of values. */
  readonly count: number;
}

const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);
/** Maximum length of one replaced `$`, as in BIND. */
const MAX_NUMBER_CHARACTERS = 127;

/** Parses `START-STOP` or `START-STOP/STEP`. Throws `TemplateError`. */
export function parseRange(text: string): Range {
  const [, from, to, by = '1'] = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text) ?? [];
  const [start, stop, step] = [Number(from), Number(to), Number(by)];
  if (from === undefined || start > stop || stop > MAX_INT32 || step === 0 || step > MAX_INT32)
    throw new TemplateError(
      `"${text.slice(0, 64)}" is not a range of $GENERATE: use START-STOP or START-STOP/STEP with 0 <= START <= STOP <= ${MAX_INT32} and 1 <= STEP <= ${MAX_INT32}`,
    );
  return { start, stop, step, count: Math.floor((stop - start) / step) + 1 };
}

type Part = string | ((value: number) => string);
/** A run of ordinary or escaped characters, `$$`, or `$` with optional modifiers. */
const PART = /((?:[^\\$]|\\.|\\$)+)|(\$\$)|\$(\{[^}]*\}?)?/gsu;
const MODIFIERS = /^\{([+-]?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?\}$/;

/**
 * Returns a function that replaces each `$` of the text by a number. `${OFFSET,WIDTH,BASE}` adds an offset, pads with
 * zeros, and selects decimal (d), octal (o), hexadecimal (x, X) or nibbles (n, N). `$$` and `\$` are a dollar sign.
 * Throws `TemplateError`, and so does the function if the number is too large or too long.
 */
export function parseTemplate(text: string): (value: number) => string {
  const parts: Part[] = [];
  for (const [, plain, dollar, modifiers] of text.matchAll(PART))
    parts.push(plain ?? (dollar === undefined ? numberOf(modifiers) : '$'));
  return (value) => parts.map((part) => (typeof part === 'string' ? part : part(value))).join('');
}

function numberOf(modifiers = '{0}'): (value: number) => string {
  const [, offsetText, widthText = '0', base = 'd'] = MODIFIERS.exec(modifiers) ?? [];
  const [offset, width] = [Number(offsetText), Number(widthText)];
  if (offsetText === undefined || Math.abs(offset) > MAX_INT32 || width > MAX_NUMBER_CHARACTERS)
    throw new TemplateError(
      `"$${modifiers.slice(0, 64)}" is not valid in $GENERATE: use \${OFFSET}, \${OFFSET,WIDTH} or \${OFFSET,WIDTH,BASE} with a WIDTH from 0 to ${MAX_NUMBER_CHARACTERS} and a BASE of d, o, x, X, n or N`,
    );
  return (value) => format(value + offset, width, base);
}

function format(value: number, width: number, base: string): string {
  if (value > MAX_INT32 || value < MIN_INT32)
    throw new TemplateError(`$GENERATE reaches the number ${value}: it must fit into 32 bits`);
  if (base === 'n' || base === 'N') return nibbles(value, width, base === 'N');
  if (base === 'd') {
    const sign = value < 0 ? '-' : '';
    return sign + String(Math.abs(value)).padStart(width - sign.length, '0');
  }
  const digits = (value >>> 0).toString(base === 'o' ? 8 : 16).padStart(width, '0');
  return base === 'X' ? digits.toUpperCase() : digits;
}

/**
 * Returns the hexadecimal digits in reverse order, as one label each. `width` counts digits and dots, so an even width
 * ends with a dot, as in BIND.
 */
function nibbles(value: number, width: number, isUpper: boolean): string {
  if (value < 0)
    throw new TemplateError(
      `$GENERATE reaches the number ${value}: the bases n and N allow no negative number`,
    );
  let text = '';
  let left = value;
  do {
    text += (left & 0xf).toString(16);
    left >>>= 4;
    if (left !== 0 || text.length < width) text += '.';
  } while (left !== 0 || text.length < width);
  return isUpper ? text.toUpperCase() : text;
}
