import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import draft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METHODS } from '../../src/ethereum/gateway/index.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { call, send } from './support/send.ts';

interface Described {
  readonly name: string;
  readonly params: ReadonlyArray<{
    readonly name: string;
    readonly schema: object;
    readonly required: boolean;
  }>;
  readonly result: { readonly schema: object };
  readonly examples: ReadonlyArray<{
    readonly params: ReadonlyArray<{ readonly value: unknown }>;
    readonly result: { readonly value: unknown };
  }>;
}

const official = JSON.parse(
  readFileSync(new URL('../fixtures/open-rpc/openrpc.json', import.meta.url), 'utf8'),
);

const exampleNames = Object.keys(
  JSON.parse(
    readFileSync(
      new URL('../../src/ethereum/gateway/methods/openRpc/examples.json', import.meta.url),
      'utf8',
    ),
  ),
);

/** Methods whose example anvil rejects: no mining work, an invalid transaction, an unknown block. */
const REFUSED_HERE = new Set([
  'eth_sendRawTransaction',
  'eth_getWork',
  'eth_mining',
  'eth_getUncleCountByBlockHash',
  'eth_getUncleByBlockHashAndIndex',
  'debug_traceBlockByHash',
  // The transaction and the block of the examples do not exist.
  'ots_traceTransaction',
  'ots_getInternalOperations',
  'ots_getTransactionError',
  'ots_getBlockDetailsByHash',
  // The filter of the example does not exist.
  'eth_getFilterChanges',
  'eth_getFilterLogs',
]);

describe('the OpenRPC document', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  let document: { readonly methods: readonly Described[]; readonly components: object };
  beforeAll(async () => {
    chain = await startSharedChain();
    const env = {
      FLOODGATE_GATEWAY_DEBUG_TRACERS: 'callTracer,flatCallTracer,prestateTracer,4byteTracer',
    };
    floodgate = await startFloodgate({ upstream: chain.anvil.url, env });
    document = (await call(floodgate.gatewayUrl, 'rpc.discover')).json.result;
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  it('is identical over GET, by network name and by chain id', async () => {
    for (const path of ['mainnet/openrpc.json', '31337/openrpc.json', 'mainnet/openrpc.json/']) {
      const got = await send(`${floodgate.url}/v1/${path}`, { method: 'GET' });
      expect(got.status).toBe(200);
      expect(got.headers['content-type']).toBe('application/json');
      expect(got.json).toEqual(document);
    }
  });

  it('is valid against the official schema', () => {
    const ajv = new Ajv({ strict: false });
    formats.default(ajv);
    const { $schema: _schema, ...schema } = official;
    // The official schema refers to draft 7 under another id, with its own definition for `$ref`.
    const JSONSchemaObject = { properties: { $ref: { type: 'string' } } };
    for (const $id of ['https://meta.json-schema.tools', 'https://meta.json-schema.tools/'])
      ajv.addSchema({ ...draft7, $id, definitions: { ...draft7.definitions, JSONSchemaObject } });
    const validate = ajv.compile(schema);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
    validate({ ...document, methods: [{ name: 'x' }] });
    expect(validate.errors).not.toEqual(null);
  });

  it('lists every method with an example, and examples.json names no other method', () => {
    expect(document.methods.map(({ name }) => name)).toEqual(METHODS.map(({ name }) => name));
    const without = document.methods.filter(
      ({ name, examples }) => name !== 'rpc.discover' && !examples?.length,
    );
    expect(without.map(({ name }) => name)).toEqual([]);
    expect(exampleNames.filter((name) => !METHODS.some((method) => method.name === name))).toEqual([]);
  });

  it('describes exactly the parameter members of trace_filter and floodgate_ methods', async () => {
    const own = document.methods.filter(({ name }) => /^(trace_filter|floodgate_)/.test(name));
    expect(own.length).toBeGreaterThan(2);
    for (const { name, params } of own) {
      const { properties = {} } = (params[0]?.schema ?? {}) as { properties?: object };
      const { error } = (await call(floodgate.gatewayUrl, name, { unheardOf: 1 })).json;
      const known = /known are (.*)/.exec(error.message)?.[1]?.split(', ');
      expect(known?.sort(), name).toEqual(Object.keys(properties).sort());
    }
  });

  it('has examples whose params and results match the schemas, as does the result on this chain', async () => {
    const ajv = new Ajv({ strict: false });
    const faults: string[] = [];
    const check = (what: string, schema: object, value: unknown): void => {
      const whole = { ...schema, components: document.components };
      if (!ajv.validate(whole, value)) faults.push(`${what}: ${ajv.errorsText()} ${JSON.stringify(value)}`);
    };
    for (const { name, params, result, examples } of document.methods)
      for (const example of examples ?? []) {
        const values = example.params.map(({ value }) => value);
        if (values.length > params.length) faults.push(`${name}: the example has too many params`);
        for (const [i, { name: param, schema }] of params.entries())
          if (i < values.length) check(`${name} ${param}`, schema, values[i]);
        check(`${name}'s example`, result.schema, example.result.value);
        const { json } = await call(floodgate.gatewayUrl, name, ...values);
        if (!REFUSED_HERE.has(name)) check(`${name} here`, result.schema, json.result);
      }
    expect(faults).toEqual([]);
  });
});
