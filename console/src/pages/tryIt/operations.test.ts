import { expect, it } from 'vitest';
import { restOperations, rpcOperations } from './operations.ts';
import { firstValues, restCall, rpcCall } from './request.ts';

const openApi = {
  paths: {
    '/accounts/{account_id}/rules/{rule_id}': {
      patch: {
        operationId: 'updateRule',
        summary: 'Change it',
        tags: ['rules'],
        parameters: [
          {
            name: 'account_id',
            in: 'path' as const,
            required: true,
            example: 'x',
            schema: { type: 'string' },
          },
          { name: 'rule_id', in: 'path' as const, required: true, example: 'y', schema: { type: 'string' } },
          { name: 'If-Match', in: 'header' as const, schema: { type: 'string' } },
          { name: 'page', in: 'query' as const, schema: { type: 'integer' } },
        ],
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Patch' }, example: { mode: 'on' } },
          },
        },
      },
    },
    '/list': {
      post: {
        operationId: 'add',
        summary: 'Add',
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Any' }, example: { a: 1 } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Patch: {
        properties: {
          mode: { type: 'string', enum: ['on', 'off'] },
          names: { type: 'array', items: { type: 'string' } },
          isBig: { type: 'boolean' },
          count: { type: 'integer' },
        },
      },
      Any: {},
    },
  },
};

it('makes the request that a form says, and no other path of what is in it', () => {
  const [update, add] = restOperations(openApi, 'acme');
  if (!update || !add) throw new Error('no operations');
  expect(firstValues(update)).toMatchObject({
    'path account_id': 'acme',
    'path rule_id': '',
    'body mode': 'on',
  });
  expect(restCall(update, firstValues(update))).toEqual([{ field: 'rule_id', message: 'is missing' }]);
  const values = {
    ...firstValues(update),
    'path rule_id': '../../x?y',
    'query page': '2',
    'body names': 'a, b',
    'body isBig': 'false',
  };
  expect(restCall(update, values)).toEqual({
    method: 'PATCH',
    path: '/accounts/acme/rules/..%2F..%2Fx%3Fy',
    query: { page: '2' },
    headers: {},
    body: { mode: 'on', names: ['a', 'b'], isBig: false },
  });
  expect(restCall(add, firstValues(add))).toMatchObject({ method: 'POST', body: { a: 1 } });
  expect(restCall(add, { 'body ': '{' })).toEqual([{ field: 'body', message: 'is no JSON' }]);
});

it('sends parameters by their position', () => {
  const [method] = rpcOperations({
    methods: [
      {
        name: 'eth_call',
        summary: 'Call',
        params: [
          { name: 'call', required: true, schema: { type: 'object' } },
          { name: 'block', schema: { type: 'string' } },
          { name: 'overrides', schema: { type: 'object' } },
        ],
        examples: [{ params: [{ value: { to: '0x1' } }, { value: 'latest' }] }],
      },
    ],
  });
  if (!method) throw new Error('no method');
  expect(rpcCall(method, firstValues(method), 'mainnet')).toEqual({
    network: 'mainnet',
    method: 'eth_call',
    params: [{ to: '0x1' }, 'latest'],
  });
  expect(rpcCall(method, { 'param call': '{}', 'param overrides': '{}' }, 'mainnet')).toMatchObject({
    params: [{}, null, {}],
  });
  expect(rpcCall(method, {}, 'mainnet')).toEqual([{ field: 'call', message: 'is missing' }]);
});
