import { describe, expect, it } from 'vitest';
import { chainRulesOf } from '../chains/chainRulesOf.ts';
import { convertBlock } from '../convertBlock.ts';
import { parseHeader } from '../parseHeader.ts';

type Json = Record<string, unknown>;

const SEPOLIA = chainRulesOf(11_155_111);
const AMSTERDAM_TIME = 1_791_294_816;
const NEW_ACCOUNT = 183_600;
const MAX_EXECUTION = 16_777_216;
const [BLOCK, TX] = [`0x${'b1'.repeat(32)}`, `0x${'7a'.repeat(32)}`];
const ALICE = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b0'.repeat(20)}`;
const IDENTITY = `0x${'4'.padStart(40, '0')}`;
const hex = (number: number) => `0x${number.toString(16)}`;

interface Case {
  readonly what: string;
  readonly limit?: number;
  readonly spent: number;
  /** Gas before the first step; null if no code ran. Default: the node cannot log steps. */
  readonly step?: number | null;
  readonly members?: Json;
  readonly frame?: Json;
  readonly gas: number;
  readonly used?: number;
}

/** Converts a block with one transaction, and returns its root frame. */
function rootOf(
  { limit = 1_000_000, spent, step, members = {}, frame = {} }: Omit<Case, 'gas'>,
  time: number,
) {
  const sent = { from: ALICE, to: BOB, value: '0x1', input: '0x', ...members };
  const transaction = { hash: TX, gas: hex(limit), ...sent };
  const numbers = { number: '0x7', timestamp: hex(time), gasUsed: hex(spent), difficulty: '0x0' };
  const block = { hash: BLOCK, parentHash: BLOCK, ...numbers, transactions: [transaction] };
  const type = sent.to === null ? 'CREATE' : 'CALL';
  const root = { type, gas: hex(limit), gasUsed: hex(spent), ...sent, to: sent.to ?? BOB, ...frame };
  const logs = step === null ? [] : [{ pc: 0, op: 'PUSH0', gas: step, gasCost: 2, depth: 1 }];
  const firstSteps =
    step === undefined ? undefined : [{ txHash: TX, result: { gas: spent, structLogs: logs } }];
  const answers = {
    header: parseHeader(block),
    block,
    traces: [{ txHash: TX, result: root }],
    uncles: [],
    firstSteps,
  };
  const [trace] = convertBlock(answers, 'callTracer', SEPOLIA).traces;
  if (trace?.type !== 'call' && trace?.type !== 'create') expect.unreachable();
  return { gas: Number(trace.action.gas), used: trace.result ? Number(trace.result.gasUsed) : undefined };
}

describe('the gas of a root frame since Amsterdam', () => {
  it.each<Case>([
    { what: 'code ran', spent: 60_000, step: 979_000, gas: 979_000, used: 39_000 },
    {
      what: 'code ran after a charge for new state',
      spent: 300_000,
      step: 1_000_000 - 21_000 - NEW_ACCOUNT,
      gas: 795_400,
      used: 95_400,
    },
    { what: 'an account without code received a transfer', spent: 21_000, step: null, gas: 979_000, used: 0 },
    {
      what: 'a new account received a transfer',
      spent: 21_000 + NEW_ACCOUNT,
      step: null,
      gas: 979_000 - NEW_ACCOUNT,
      used: 0,
    },
    {
      what: 'a precompiled contract ran',
      spent: 15_018,
      step: null,
      members: { to: IDENTITY, value: '0x0' },
      gas: 985_000,
      used: 18,
    },
    {
      what: 'a precompiled contract without an account ran with value',
      spent: 21_015 + NEW_ACCOUNT,
      step: null,
      members: { to: IDENTITY },
      gas: 979_000 - NEW_ACCOUNT,
      used: 15,
    },
    {
      what: 'a charge for new state exceeded the gas limit',
      limit: 100_000,
      spent: 100_000,
      step: null,
      frame: { error: 'out of gas' },
      gas: 79_000,
    },
    {
      what: 'a part of the limit pays for state only',
      limit: MAX_EXECUTION + NEW_ACCOUNT,
      spent: 21_000 + NEW_ACCOUNT,
      step: null,
      gas: MAX_EXECUTION - 21_000,
      used: 0,
    },
    {
      what: 'a creation with empty code',
      spent: 24_000 + NEW_ACCOUNT,
      step: null,
      members: { to: null },
      gas: 976_000 - NEW_ACCOUNT,
      used: 0,
    },
    {
      what: 'a creation reverted, and its charge was refunded',
      spent: 25_000,
      step: 976_000 - NEW_ACCOUNT,
      members: { to: null },
      frame: { error: 'execution reverted', to: undefined },
      gas: 976_000 - NEW_ACCOUNT,
      used: 1_000,
    },
    {
      what: 'its children used gas for state, which was returned when it reverted',
      spent: 30_000,
      step: 979_000,
      gas: 979_000,
      used: 9_000,
      frame: {
        error: 'execution reverted',
        calls: [{ type: 'CALL', from: BOB, to: ALICE, gas: '0x30d40', gasUsed: '0x30d40', input: '0x' }],
      },
    },
    { what: 'steps are unknown', spent: 60_000, gas: 979_000, used: 39_000 },
  ])('is exact if $what', ({ gas, used, ...traced }) => {
    expect(rootOf(traced, AMSTERDAM_TIME)).toEqual({ gas, used });
  });

  it('depends on the rules of the fork only, before Amsterdam', () => {
    expect(rootOf({ what: '', spent: 60_000, step: 1 }, AMSTERDAM_TIME - 1)).toEqual({
      gas: 979_000,
      used: 39_000,
    });
  });

  it.each([
    ['a step without gas', { structLogs: [{}] }, /structLogs\[0\].gas must be a whole number/],
    ['more steps than the limit', { structLogs: Array(17).fill({ gas: 1 }) }, /an array of at most 16/],
    ['no steps', {}, /structLogs must be an array/],
  ])('is rejected for a result of the step logger with %s', (_, result, message) => {
    const transaction = { hash: TX, from: ALICE, to: BOB, value: '0x1', gas: '0x5208', input: '0x' };
    const block = {
      hash: BLOCK,
      parentHash: BLOCK,
      number: '0x7',
      timestamp: hex(AMSTERDAM_TIME),
      gasUsed: '0x5208',
      transactions: [transaction],
    };
    const traces = [{ txHash: TX, result: { ...transaction, type: 'CALL', gasUsed: '0x5208' } }];
    const answers = { header: parseHeader(block), block, traces, uncles: [], firstSteps: [{ result }] };
    expect(() => convertBlock(answers, 'callTracer', SEPOLIA)).toThrow(message);
  });
});
