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
  it.each<{ node: string; responses: ProbeResponses; method: string; remarks: RegExp }>([
    {
      node: 'Erigon',
      responses: { traceBlock: parity, callTracer: calls, flatCallTracer: flat },
      method: 'trace_block',
      remarks: /trace_block: works/,
    },
    {
      node: 'geth',
      responses: { traceBlock: missing, callTracer: calls, flatCallTracer: flat },
      method: 'callTracer',
      remarks: /not offered.*refunded/,
    },
    {
      node: 'a geth with the flat tracer only',
      responses: { traceBlock: missing, flatCallTracer: flat },
      method: 'flatCallTracer',
      remarks: /works/,
    },
    {
      node: 'anvil without trace_block',
      responses: { traceBlock: missing, callTracer: calls, flatCallTracer: anvilFlat },
      method: 'callTracer',
      remarks: /flatCallTracer: unexpected result: .* the node sent an object/,
    },
    {
      node: 'a node with wrong flat frames',
      responses: { flatCallTracer: { result: [{ txHash: HASH, result: [{ ...frame, action: {} }] }] } },
      method: 'none',
      remarks: /flatCallTracer: unexpected result: .*action/,
    },
    {
      node: 'anvil with its flat tracer only',
      responses: { flatCallTracer: anvilFlat },
      method: 'none',
      remarks: /unexpected result/,
    },
    {
      node: 'a node without traces',
      responses: { traceBlock: missing, callTracer: missing, flatCallTracer: missing },
      method: 'none',
      remarks: /not offered/,
    },
    {
      node: 'a node that says only by code that it lacks the method',
      responses: { callTracer: { error: { code: -32_601, message: 'no such method' } } },
      method: 'none',
      remarks: /callTracer: not offered: "no such method"/,
    },
    {
      node: 'a pruned geth',
      responses: { traceBlock: missing, callTracer: pruned },
      method: 'none',
      remarks: /offered, but the node no longer has the state/,
    },
    {
      node: 'a slow node',
      responses: { callTracer: timeout },
      method: 'none',
      remarks: /callTracer: failed: "execution timeout"/,
    },
    {
      node: 'Besu',
      responses: { traceBlock: bareRevert },
      method: 'trace_block',
      remarks: /works, but omits the output of reverted calls/,
    },
    {
      node: 'a node with an empty test block',
      responses: { traceBlock: { result: [] } },
      method: 'trace_block',
      remarks: /not verified, because the test block has no traces/,
    },
    {
      node: 'a node that returns null',
      responses: { traceBlock: { result: null }, callTracer: { result: null } },
      method: 'none',
      remarks: /unexpected result/,
    },
    {
      node: 'a tracer that returns an empty object',
      responses: { callTracer: { result: [{ result: {} }] } },
      method: 'none',
      remarks: /type must be a string/,
    },
    { node: 'a node without probes', responses: {}, method: 'none', remarks: /^$/ },
  ])('chooses $method for $node', ({ responses, method, remarks }) => {
    const choice = chooseTraceMethod(responses);
    expect(choice.method).toBe(method);
    expect(choice.remarks.join(' ')).toMatch(remarks);
  });

  it('does not modify the responses', () => {
    const before = JSON.stringify([parity, calls, flat]);
    chooseTraceMethod({ traceBlock: parity, callTracer: calls, flatCallTracer: flat });
    expect(JSON.stringify([parity, calls, flat])).toBe(before);
  });
});
