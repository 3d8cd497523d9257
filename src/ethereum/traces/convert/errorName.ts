import type { ParseContext } from './json/parseContext.ts';
import { plain, TraceFormatError } from './json/traceFormatError.ts';

/** Maximum number of characters of an error text. Parity's longest has 30; geth's have fewer than 100. */
const MAX_ERROR_CHARS = 100;

export const REVERTED = 'Reverted';
const OUT_OF_GAS = 'Out of gas';
const BAD_JUMP = 'Bad jump destination';
const BAD_INSTRUCTION = 'Bad instruction';
const STACK_UNDERFLOW = 'Stack underflow';
const OUT_OF_STACK = 'Out of stack';
const BUILT_IN_FAILED = 'Built-in failed';
const WRITE_PROTECTION = 'Mutable Call In Static Context';
const OUT_OF_BOUNDS = 'Out of bounds';
const INVALID_CODE = 'Invalid code';
const COLLISION = 'Contract address collision';
const NONCE_OVERFLOW = 'Nonce overflow';
/** This and the next error occur before a call or creation runs. Parity therefore has no trace of the frame. */
const INSUFFICIENT_BALANCE = 'Insufficient balance for transfer';
const DEPTH_EXCEEDED = 'Max call depth exceeded';

/**
 * For each error name of Parity, the error texts of geth, Erigon, Besu, Nethermind and revm in lower case. Sources:
 * geth `convertParityErrors`, Erigon's labels of September 2026, Besu `ExceptionalHaltReason`, Nethermind
 * `GetErrorDescription`, revm-inspectors `as_error_msg`.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  [REVERTED]: ['reverted', 'revert', 'execution reverted', 'evm: execution reverted'],
  [OUT_OF_GAS]: [
    'out of gas',
    'contract creation code storage out of gas',
    'gas uint64 overflow',
    'max code size exceeded',
    'evm: max code size exceeded',
    'max initcode size exceeded',
    'code is too large',
    'codetoolarge',
    'createcontractsizelimit',
    'createinitcodesizelimit',
    'memoryoog',
    'memorylimitoog',
    'precompileoog',
    'invalidoperandoog',
    'reentrancysentryoog',
    'outofgas',
  ],
  [BAD_JUMP]: [
    'bad jump destination',
    'invalid jump destination',
    'evm: invalid jump destination',
    'invalidjump',
  ],
  [BAD_INSTRUCTION]: [
    'bad instruction',
    'invalid opcode',
    'invalid instruction',
    'opcodenotfound',
    'invalidfeopcode',
    'notactivated',
  ],
  [STACK_UNDERFLOW]: ['stack underflow', 'stackunderflow'],
  [OUT_OF_STACK]: ['out of stack', 'stack overflow', 'stackoverflow'],
  [BUILT_IN_FAILED]: [
    'built-in failed',
    'precompiled failed',
    'precompile failure',
    'precompile error',
    'precompileerror',
    'invalid input length',
  ],
  [WRITE_PROTECTION]: [
    'mutable call in static context',
    'write protection',
    'evm: write protection',
    'out of gas: write protection',
    'illegal state change',
    'static call violation',
    'statechangeduringstaticcall',
    'callnotallowedinsidestatic',
  ],
  [OUT_OF_BOUNDS]: ['out of bounds', 'return data out of bounds', 'access violation', 'outofoffset'],
  [INVALID_CODE]: [
    'invalid code',
    'code is invalid',
    'invalid code: must not begin with 0xef',
    'createcontractstartingwithef',
  ],
  [COLLISION]: ['contract address collision', 'createcollision'],
  [NONCE_OVERFLOW]: ['nonce overflow', 'nonce uint64 overflow', 'nonceoverflow'],
  [INSUFFICIENT_BALANCE]: ['insufficient balance for transfer', 'outoffunds', 'outoffund'],
  [DEPTH_EXCEEDED]: ['max call depth exceeded', 'calltoodeep'],
  'Internal error': ['internal error'],
};

/** Lower-case prefixes of error texts in which details follow without a colon, with Parity's names. */
const PREFIXES: ReadonlyArray<readonly [prefix: string, name: string]> = [
  ['stack underflow', STACK_UNDERFLOW],
  ['stack limit reached', OUT_OF_STACK],
];

const nameOfText = new Map<string, string>();
for (const [name, texts] of Object.entries(NAMES)) for (const text of texts) nameOfText.set(text, name);

/**
 * Returns Parity's name for an error text of a node, or undefined if the frame did not fail (`value` is undefined,
 * null or an empty string). An unknown text is returned as printable ASCII of bounded length, so that the trace still
 * has an `error`, which marks a failed frame.
 *
 * @throws TraceFormatError if the value is not a string.
 */
export function readErrorName(value: unknown, place: ParseContext): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string')
    throw new TraceFormatError(place, 'error', { expected: 'a string', got: value });
  return nameOf(value);
}

function nameOf(text: string): string {
  // The text is truncated first, to bound the work for a very long text of a hostile node.
  const lower = text.slice(0, MAX_ERROR_CHARS).toLowerCase();
  // Text after a colon is a detail (`max code size exceeded: code size 24577, limit 24576`) or the name of another
  // failure.
  for (let end = lower.length; end > 0; end = lower.lastIndexOf(':', end - 1)) {
    const known = nameOfText.get(lower.slice(0, end));
    if (known !== undefined) return known;
  }
  for (const [prefix, name] of PREFIXES) if (lower.startsWith(prefix)) return name;
  return plain(text, MAX_ERROR_CHARS);
}

/** Whether a frame with this error, as returned by `readErrorName`, failed before it ran. */
export function isPrecheckError(name: string | undefined): boolean {
  return name === INSUFFICIENT_BALANCE || name === DEPTH_EXCEEDED;
}

/** Returns Parity's error name for a failed precompiled contract. geth and Erigon report a more specific reason. */
export function precompileErrorName(name: string): string {
  // Precompiled contracts do not revert, so a frame that reverts is of another contract (isValuelessPrecompileCall).
  return name === OUT_OF_GAS || name === REVERTED || isPrecheckError(name) ? name : BUILT_IN_FAILED;
}
