import { expect, it } from 'vitest';
import { restOperations, rpcOperations } from './operations.ts';
import { isFound } from './tryIt.tsx';

const openApi = {
  paths: {
    '/accounts/{account_id}/rules/{rule_id}': {
      patch: {
        operationId: 'updateRule',
        summary: 'Change it',
        description: 'The token must allow `rules:write`.',
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
          {
            name: 'If-Match',
            in: 'header' as const,
            required: true,
            example: '*',
            schema: { type: 'string' },
          },
        ],
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/Patch' }, example: { mode: 'on' } },
          },
        },
        responses: { 200: { description: 'Success.' } },
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
        required: ['mode'],
        properties: {
          mode: { type: 'string', enum: ['on', 'off'], description: 'What it does.' },
          names: { type: 'array', items: { type: 'string' } },
          isBig: { type: 'boolean' },
          count: { type: ['integer', 'null'] },
        },
      },
      Any: {},
    },
  },
};

it('an OpenAPI operation has a field for each parameter and each member of its body', () => {
  const [update, add] = restOperations(openApi, 'acme');
  expect(update).toMatchObject({
    kind: 'rest',
    id: 'updateRule',
    group: 'rules',
    method: 'PATCH',
    description: 'The token must allow rules:write.',
    details: { Responses: { 200: 'Success.' } },
  });
  expect(
    update?.fields.map(({ name, form, isRequired, initialText }) => [name, form, isRequired, initialText]),
  ).toEqual([
    ['account_id', 'text', true, 'acme'],
    ['rule_id', 'text', true, ''],
    ['If-Match', 'text', true, '*'],
    ['mode', 'choice', true, 'on'],
    ['names', 'list', false, ''],
    ['isBig', 'flag', false, ''],
    ['count', 'number', false, ''],
  ]);
  expect(add?.fields).toMatchObject([{ name: '', form: 'json', initialText: '{\n  "a": 1\n}' }]);
});

it('an OpenRPC method starts with the parameters of its example', () => {
  const [method] = rpcOperations({
    methods: [
      {
        name: 'eth_call',
        summary: 'Call',
        params: [
          { name: 'call', required: true, schema: { type: 'object' } },
          { name: 'block', schema: { type: 'string' } },
        ],
        result: { schema: { type: 'string' } },
        examples: [{ params: [{ value: { to: '0x1' } }, { value: 'latest' }], result: { value: '0x' } }],
      },
    ],
  });
  expect(method).toMatchObject({ kind: 'rpc', id: 'eth_call', group: 'eth' });
  expect(method?.fields.map(({ initialText }) => initialText)).toEqual(['{\n  "to": "0x1"\n}', 'latest']);
  expect(method?.details).toEqual({
    'Schemas of the parameters': { call: { type: 'object' }, block: { type: 'string' } },
    'Schema of the result': { type: 'string' },
    'Result of the example': '0x',
  });
});

it('the search finds operations by words of their names and summaries', () => {
  const method = { id: 'eth_getLogs', summary: 'The logs of a block.' };
  for (const search of ['', 'GETLOGS', 'logs block', ' eth '])
    expect(isFound(method, search), search).toBe(true);
  expect(isFound(method, 'logs trace')).toBe(false);
});
