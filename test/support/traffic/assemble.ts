/**
 * A small assembler for the Ethereum virtual machine: contracts are nested expressions, without a compiler.
 *
 *     assemble([op('SSTORE', { key: 0, value: op('CALLDATASIZE') }), op('STOP')])
 */
import type { Data } from '../../../src/ethereum/traces/index.ts';

/** The instructions used: the opcode, and the operands from the top of the stack down. */
const INSTRUCTIONS = {
  STOP: [0x00],
  ADD: [0x01, 'a', 'b'],
  EQ: [0x14, 'a', 'b'],
  AND: [0x16, 'a', 'b'],
  SHR: [0x1c, 'bits', 'value'],
  KECCAK256: [0x20, 'offset', 'size'],
  ADDRESS: [0x30],
  CALLDATASIZE: [0x36],
  CALLDATACOPY: [0x37, 'to', 'from', 'size'],
  CODESIZE: [0x38],
  CODECOPY: [0x39, 'to', 'from', 'size'],
  POP: [0x50, 'value'],
  MLOAD: [0x51, 'offset'],
  MSTORE: [0x52, 'offset', 'value'],
  SLOAD: [0x54, 'key'],
  SSTORE: [0x55, 'key', 'value'],
  JUMP: [0x56, 'to'],
  JUMPI: [0x57, 'to', 'condition'],
  GAS: [0x5a],
  LOG1: [0xa1, 'offset', 'size', 'topic'],
  CREATE: [0xf0, 'value', 'offset', 'size'],
  CALL: [0xf1, 'gas', 'to', 'value', 'inOffset', 'inSize', 'outOffset', 'outSize'],
  CALLCODE: [0xf2, 'gas', 'to', 'value', 'inOffset', 'inSize', 'outOffset', 'outSize'],
  RETURN: [0xf3, 'offset', 'size'],
  DELEGATECALL: [0xf4, 'gas', 'to', 'inOffset', 'inSize', 'outOffset', 'outSize'],
  CREATE2: [0xf5, 'value', 'offset', 'size', 'salt'],
  STATICCALL: [0xfa, 'gas', 'to', 'inOffset', 'inSize', 'outOffset', 'outSize'],
  REVERT: [0xfd, 'offset', 'size'],
  INVALID: [0xfe],
  SELFDESTRUCT: [0xff, 'to'],
} as const satisfies Record<string, readonly [number, ...string[]]>;

type Instruction = keyof typeof INSTRUCTIONS;
type OperandNames<Name extends Instruction> = (typeof INSTRUCTIONS)[Name] extends readonly [
  number,
  ...infer Rest extends string[],
]
  ? Rest[number]
  : never;
/** The operands of an instruction by name: all of them, or none if they are on the stack already. */
type Operands<Name extends Instruction> = Readonly<Record<OperandNames<Name>, Value>>;

/** A part of a program: bytes, a label (a jump target has its own byte), or a reference to a label. */
type Piece =
  | { readonly bytes: readonly number[] }
  | { readonly place: string; readonly target: boolean }
  | { readonly refer: string };
export type Code = readonly Piece[];
/** An operand: a number, which is pushed, or code that leaves one word on the stack. */
export type Value = number | bigint | Code;

const JUMPDEST = 0x5b;
const PUSH0 = 0x5f;
/** Labels are pushed as two bytes, because code is limited to 24,576 bytes (EIP-170). */
const PUSH2 = 0x61;
const LABEL_BYTES = 2;

/** Returns an instruction after its operands: `op('MSTORE', { offset: 0, value: op('GAS') })`. */
export function op<Name extends Instruction>(name: Name, operands?: Operands<Name>): Code {
  const [byte, ...names]: readonly [number, ...string[]] = INSTRUCTIONS[name];
  // Every operand name of the instruction is a member of `operands`; the parameter type ensures that.
  const given = operands as Readonly<Record<string, Value>> | undefined;
  const pushes = given ? names.toReversed().flatMap((operand) => push(given[operand] ?? 0)) : [];
  return [...pushes, { bytes: [byte] }];
}

/** Returns code that pushes a number with as few bytes as possible. Code is returned unchanged. */
export function push(value: Value): Code {
  if (typeof value === 'object') return value;
  if (value === 0 || value === 0n) return [{ bytes: [PUSH0] }];
  const digits = value.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return [{ bytes: [PUSH0 + bytes.length, ...bytes] }];
}

/** Returns a jump target. */
export const label = (name: string): Code => [{ place: name, target: true }];
/** Returns a label that is only referred to, such as the start of data. */
export const mark = (name: string): Code => [{ place: name, target: false }];
/** Returns code that pushes the address of a label. */
export const at = (name: string): Code => [{ refer: name }];
export const jump = (name: string): Code => op('JUMP', { to: at(name) });
export const jumpIf = (condition: Value, name: string): Code => op('JUMPI', { to: at(name), condition });

/** Returns the bytes of a program with resolved labels. Throws an Error that names a missing or duplicate label. */
export function assemble(parts: readonly Code[]): Data {
  const pieces = parts.flat();
  const places = new Map<string, number>();
  let size = 0;
  for (const piece of pieces) {
    if ('place' in piece) {
      if (places.has(piece.place)) throw new Error(`assemble: duplicate label ${piece.place}`);
      places.set(piece.place, size);
    }
    size += sizeOf(piece);
  }
  const bytes = pieces.flatMap((piece) => {
    if ('bytes' in piece) return piece.bytes;
    if ('place' in piece) return piece.target ? [JUMPDEST] : [];
    const place = places.get(piece.refer);
    if (place === undefined) throw new Error(`assemble: unknown label ${piece.refer}`);
    return [PUSH2, place >> 8, place & 0xff];
  });
  return `0x${Buffer.from(bytes).toString('hex')}` as Data; // lower-case hex of whole bytes
}

function sizeOf(piece: Piece): number {
  if ('bytes' in piece) return piece.bytes.length;
  if ('place' in piece) return piece.target ? 1 : 0;
  return 1 + LABEL_BYTES;
}
