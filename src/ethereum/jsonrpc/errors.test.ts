import { expect, it } from 'vitest';
import { RPC_ERRORS } from './errors.ts';

it('JSON-RPC errors have the codes of JSON-RPC 2.0 and EIP-1474', () => {
  expect(Object.entries(RPC_ERRORS).map(([name, { code }]) => [name, code])).toEqual([
    ['parseError', -32700],
    ['invalidRequest', -32600],
    ['methodNotFound', -32601],
    ['invalidParams', -32602],
    ['internalError', -32603],
    ['noNode', -32603],
    ['unauthorized', -32000],
    ['filterNotFound', -32000],
    ['transactionNotFound', -32000],
    ['resourceNotFound', -32001],
    ['resourceUnavailable', -32002],
    ['limitExceeded', -32005],
  ]);
});
