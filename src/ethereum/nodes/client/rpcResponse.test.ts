import { describe, expect, it } from 'vitest';
import { readResponses, refusesBatch, resultOf } from './rpcResponse.ts';

const read = (body: unknown, calls = 1) =>
  readResponses(
    body,
    Array.from({ length: calls }, () => ['eth_chainId'] as const),
    'node.example',
  );

describe('the responses of a node', () => {
  it('are assigned to the calls by their ids', () => {
    expect(read({ id: 0, result: 1 })).toEqual([{ result: 1 }]);
    expect(read([{ id: 1, result: 2 }, null, { id: 0, result: 1 }], 2)).toEqual([
      { result: 1 },
      { result: 2 },
    ]);
    expect(() => read([{ id: 1, result: 2 }], 2)).toThrow('no response to eth_chainId');
    expect(() => read({ id: 0 })).toThrow('neither result nor error');
  });

  it('have an error with a whole code and a short message, whatever the node sent', () => {
    const errorOf = (error: object) => read({ id: 0, error })[0];
    expect(errorOf({ code: 3, message: 'reverted', data: '0x' })).toEqual({
      error: { code: 3, message: 'reverted', data: '0x' },
    });
    for (const code of ['3', 1.5, null])
      expect(errorOf({ code })).toEqual({ error: { code: -32000, message: 'no message' } });
    expect(errorOf({ message: 'x'.repeat(201) })).toEqual({
      error: { code: -32000, message: 'x'.repeat(200) },
    });
  });

  it('say that a batch is refused, or that a result is too large', () => {
    for (const code of [-32600, -32700, -32601]) expect(refusesBatch({ error: { code } })).toBe(true);
    for (const body of [{ error: { code: -32000 } }, { result: 1 }, [], null])
      expect(refusesBatch(body)).toBe(false);
    const large = { error: { code: -32003, message: 'response too large' } };
    expect(() => resultOf('eth_getLogs', large)).toThrow(expect.objectContaining({ reason: 'oversized' }));
    expect(() => read({ ...large, id: null }, 2)).toThrow(expect.objectContaining({ reason: 'oversized' }));
    expect(() => resultOf('eth_call', { error: { code: 3, message: 'no' } })).toThrow(
      'eth_call: no (code 3)',
    );
    expect(() => resultOf('eth_call', undefined)).toThrow('no response to eth_call');
  });
});
