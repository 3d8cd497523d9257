import { describe, expect, it } from 'vitest';
import { chooseTraceMethod, type ProbeResponses } from './chooseTraceMethod.ts';

const HASH = `0x${'b1'.repeat(32)}`;
const ALICE = `0x${'a1'.repeat(20)}`;
const action = { callType: 'call', from: ALICE, gas: '0x1', input: '0x', to: ALICE, value: '0x0' };
const frame = {
  action,
  blockHash: HASH,
  blockNumber: 1,
  result: { gasUsed: '0x0', output: '0x' },
  subtraces: 0,
  traceAddress: [],
  transactionHash: HASH,
  transactionPosition: 0,
  type: 'call',
};
const nested = {
  type: 'CALL',
  from: ALICE,
  to: ALICE,
  gas: '0x1',
  gasUsed: '0x0',
  input: '0x',
  value: '0x0',
};

const parity = { result: [frame] };
const bareRevert = { result: [{ ...frame, error: 'Reverted', result: undefined }] };
const calls = { result: [{ txHash: HASH, result: nested }] };
const flat = { result: [{ txHash: HASH, result: [frame] }] };
const anvilFlat = { result: [{ txHash: HASH, result: {} }] };
const missing = {
  error: { code: -32_601, message: 'the method trace_block does not exist/is not available' },
};
const pruned = { error: { code: -32_000, message: 'required historical state unavailable (reexec=128)' } };
const timeout = { error: { code: -32_000, message: 'execution timeout' } };

describe('chooseTraceMethod', () => {
  it.each<[string, ProbeResponses, string, RegExp]>([
    [
      'Erigon',
      { traceBlock: parity, callTracer: calls, flatCallTracer: flat },
      'trace_block',
      /trace_block: works/,
    ],
    [
      'geth',
      { traceBlock: missing, callTracer: calls, flatCallTracer: flat },
      'callTracer',
      /not offered.*refunded/,
    ],
    [
      'a geth with the flat tracer only',
      { traceBlock: missing, flatCallTracer: flat },
      'flatCallTracer',
      /works/,
    ],
    [
      'anvil without trace_block',
      { traceBlock: missing, callTracer: calls, flatCallTracer: anvilFlat },
      'callTracer',
      /flatCallTracer: answers something else: .* the node sent an object/,
    ],
    ['anvil with its flat tracer only', { flatCallTracer: anvilFlat }, 'none', /something else/],
    [
      'a node without traces',
      { traceBlock: missing, callTracer: missing, flatCallTracer: missing },
      'none',
      /not offered/,
    ],
    [
      'a pruned geth',
      { traceBlock: missing, callTracer: pruned },
      'none',
      /offered, but the node no longer has the state/,
    ],
    ['a slow node', { callTracer: timeout }, 'none', /callTracer: failed: "execution timeout"/],
    [
      'Besu',
      { traceBlock: bareRevert },
      'trace_block',
      /works, but leaves out what reverted calls gave back/,
    ],
    [
      'an empty block',
      { traceBlock: { result: [] } },
      'trace_block',
      /the test block had nothing to prove it with/,
    ],
    [
      'a null answer',
      { traceBlock: { result: null }, callTracer: { result: null } },
      'none',
      /something else/,
    ],
    [
      'a tracer that answers nothing',
      { callTracer: { result: [{ result: {} }] } },
      'none',
      /type must be a text/,
    ],
    ['nothing asked', {}, 'none', /^$/],
  ])('%s', (_, responses, method, remarks) => {
    const choice = chooseTraceMethod(responses);
    expect(choice.method).toBe(method);
    expect(choice.remarks.join(' ')).toMatch(remarks);
  });

  it('leaves the answers that it judges as they are', () => {
    const before = JSON.stringify([parity, calls, flat]);
    chooseTraceMethod({ traceBlock: parity, callTracer: calls, flatCallTracer: flat });
    expect(JSON.stringify([parity, calls, flat])).toBe(before);
  });
});
