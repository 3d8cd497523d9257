import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Field, type Operation, restOperations } from './operations.ts';
import { fieldKey, requestOf } from './request.ts';

const UUID = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
const REST = { url: '/client/v4', secret: 'fg_secret', variable: 'FLOODGATE_TOKEN' } as const;
const RPC = { url: '/v1/mainnet', secret: undefined, variable: 'FLOODGATE_KEY' } as const;

const fieldOf = (name: string, location: Field['location'], form: Field['form']): Field => ({
  name,
  location,
  form,
  isRequired: false,
  description: '',
  choices: [],
  initialText: '',
});
const restOf = (...fields: Field[]): Operation => ({
  kind: 'rest',
  id: 'updateRule',
  group: 'rules',
  summary: '',
  description: '',
  details: {},
  method: 'PATCH',
  path: '/rules',
  fields,
});
const rpcOf = (...fields: Field[]): Operation => ({
  kind: 'rpc',
  id: 'eth_call',
  group: 'eth',
  summary: '',
  description: '',
  details: {},
  fields,
});
const paramsOf = (values: readonly string[], isRequired = false): unknown => {
  const fields = values.map((_, i) => ({ ...fieldOf(String(i), 'param', 'json'), isRequired }));
  const texts = Object.fromEntries(fields.map((field, i) => [fieldKey(field), values[i] ?? '']));
  const made = requestOf(rpcOf(...fields), RPC, texts);
  return 'faults' in made ? made : JSON.parse(made.request.body ?? '').params;
};

describe('a request of the rules API', () => {
  it('takes query, headers and body from their fields, and omits empty fields', () => {
    const operation = restOf(
      fieldOf('page', 'query', 'number'),
      fieldOf('order', 'query', 'text'),
      fieldOf('If-Match', 'header', 'text'),
      fieldOf('names', 'body', 'list'),
      fieldOf('isBig', 'body', 'flag'),
      fieldOf('count', 'body', 'number'),
    );
    const values = {
      'query page': '2',
      'header If-Match': '"x"',
      'body names': 'a, b',
      'body isBig': 'false',
    };
    expect(requestOf(operation, REST, values)).toEqual({
      request: {
        method: 'PATCH',
        url: '/client/v4/rules?page=2',
        body: '{"names":["a","b"],"isBig":false}',
        headers: { authorization: 'Bearer fg_secret', 'If-Match': '"x"', 'content-type': 'application/json' },
      },
    });
  });

  it('sends a body of any shape as it was entered', () => {
    const operation = restOf({ ...fieldOf('', 'body', 'json'), isRequired: true });
    expect(requestOf(operation, REST, { 'body ': '[1, 2]' })).toMatchObject({ request: { body: '[1,2]' } });
    expect(requestOf(operation, REST, { 'body ': '{' })).toMatchObject({
      faults: [{ field: 'body', message: expect.stringContaining('is not JSON') }],
    });
    expect(requestOf(operation, REST, {})).toEqual({ faults: [{ field: 'body', message: 'is required' }] });
  });

  const [ruleById, textById] = restOperations(
    {
      paths: {
        '/rules/{rule_id}': {
          delete: {
            operationId: 'deleteRule',
            summary: '',
            parameters: [
              {
                name: 'rule_id',
                in: 'path',
                required: true,
                example: UUID,
                schema: { type: 'string', format: 'uuid' },
              },
            ],
          },
        },
        '/texts/{text_id}': {
          delete: {
            operationId: 'deleteText',
            summary: '',
            parameters: [
              { name: 'text_id', in: 'path', required: true, example: 'a', schema: { type: 'string' } },
            ],
          },
        },
      },
      components: { schemas: {} },
    },
    'acme',
  ) as [Operation, Operation];

  it.each([
    '',
    ' ',
    '*',
    '.',
    '..',
    '../..',
    '../rules',
    '%2F',
    '/',
    '?',
    '#',
    'undefined',
    'null',
    `${UUID} `,
    `${UUID}/`,
  ])('is rejected for the id %j, which could address another resource', (id) => {
    expect(requestOf(ruleById, REST, { 'path rule_id': id })).toMatchObject({
      faults: [{ field: 'rule_id' }],
    });
  });

  it('reports a rejected id, with an example of an allowed one', () => {
    expect(requestOf(ruleById, REST, { 'path rule_id': '..' })).toEqual({
      faults: [{ field: 'rule_id', message: `is ".."; allowed: a UUID such as ${UUID}` }],
    });
  });

  it('keeps the path of its operation for any id', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webPath(), fc.constant('..')), (id) => {
        const made = requestOf(textById, REST, { 'path text_id': id.toWellFormed() });
        if ('faults' in made) return;
        const { pathname, search } = new URL(made.request.url, 'http://127.0.0.1');
        expect([pathname.split('/').length, pathname.startsWith('/client/v4/texts/'), search]).toEqual([
          5,
          true,
          '',
        ]);
        expect(pathname).not.toMatch(/\/$/);
      }),
    ));

  it('has no authorization header without a token', () => {
    const made = requestOf(restOf(), { ...REST, secret: undefined }, {});
    expect(made).toMatchObject({ request: { headers: {} } });
  });
});

describe('a request of the gateway', () => {
  it.each<[readonly string[], unknown]>([
    [[], []],
    [['latest'], ['latest']],
    [[' 0x10\n'], ['0x10']],
    [['"0x10"'], ['0x10']],
    [['16'], [16]],
    [['true'], [true]],
    [['{"a":[1]}'], [{ a: [1] }]],
    // Empty parameters are omitted at the end, and null elsewhere.
    [['a', ''], ['a']],
    [
      ['', 'b'],
      [null, 'b'],
    ],
    [[''], []],
  ])('converts the texts %j to the parameters %j', (texts, params) =>
    expect(paramsOf(texts)).toEqual(params),
  );

  it.each([
    ['', 'is required'],
    ['{"a":', expect.stringContaining('is not JSON')],
    ['[1,]', expect.stringContaining('is not JSON')],
    ['"a', expect.stringContaining('is not JSON')],
  ])('is rejected for the text %j', (text, message) => {
    expect(paramsOf([text], true)).toEqual({ faults: [{ field: '0', message }] });
  });

  it('sends any JSON value as it was entered', () =>
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(paramsOf([text], true)).toEqual([JSON.parse(text)]);
      }),
    ));
});
