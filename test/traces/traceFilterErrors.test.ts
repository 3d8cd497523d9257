import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { callTraceFilter, type FilterAnswer } from './support/callTraceFilter.ts';

/** An invalid `trace_filter` request and its expected error; `params` is the JSON text that is sent. */
interface Row {
  readonly says: string;
  readonly params: string;
  readonly code: -32602 | -32005;
  /** Texts that the message must contain: the member, the value, the allowed values. */
  readonly names: readonly string[];
  readonly data?: unknown;
}

const HASH = `0x${'1f'.repeat(32)}`;
const ADDRESS = `0x${'ab'.repeat(20)}`;
/** Head of the shared chain: the number of scripted blocks. */
const HEAD = 8;
const PAST_HEAD = HEAD + 1;

const filter = (members: string): string => `[{${members}}]`;
const bad = (says: string, members: string, ...names: string[]): Row => ({
  says,
  params: filter(members),
  code: -32602,
  names,
});
const overLimit =
  (limit: number, requested: number) =>
  (says: string, members: string, ...names: string[]): Row => ({
    ...bad(says, members, String(limit), String(requested), ...names),
    code: -32005,
    data: { limit, requested },
  });
const pastHead = (says: string, members: string, ...names: string[]): Row => ({
  ...bad(says, members, ...names, String(HEAD)),
  data: { head: HEAD },
});
const addresses = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`));

/** Invalid values of every quantity member. */
const QUANTITIES = ['fromBlock', 'toBlock', 'after', 'count'].flatMap((member) =>
  (
    [
      ['a decimal string', '"12"'],
      ['an empty string', '""'],
      ['0x without digits', '"0x"'],
      ['hex with spaces', '" 0x1"'],
      ['hex with other letters', '"0x1g"'],
      ['a negative number', '-1'],
      ['negative hex', '"-0x1"'],
      ['a fraction', '1.5'],
      ['an unsafe integer', '9007199254740992'],
      ['an unsafe integer in hex', '"0x20000000000000"'],
      ['a huge number', '1e400'],
      ['a boolean', 'true'],
      ['a list', '[1]'],
      ['an object', '{"number":1}'],
      ['a tag in capitals', '"LATEST"'],
    ] as const
  ).map(([what, value]) => bad(`${what} as ${member}`, `"${member}":${value}`, member)),
);

const ROWS: readonly Row[] = [
  { says: 'two filters', params: '[{},{}]', code: -32602, names: ['params[1]', 'gasBailOut'] },
  { says: 'a list as the filter', params: '[[]]', code: -32602, names: ['params[0]'] },
  { says: 'a string as the filter', params: '["latest"]', code: -32602, names: ['params[0]'] },
  { says: 'null as the filter', params: '[null]', code: -32602, names: ['params[0]'] },
  { says: 'params by name', params: '{"fromBlock":"0x1"}', code: -32602, names: ['params'] },
  { says: 'a string as params', params: '"0x1"', code: -32602, names: ['params'] },

  bad('an unknown member', '"fromAdress":[]', 'fromAdress', 'fromAddress'),
  bad('several unknown members', '"a":1,"b":2', '"a"', '"b"'),
  bad('a member named __proto__', '"__proto__":{"count":1}', '__proto__'),
  bad('a member named constructor', '"constructor":1', 'constructor'),
  bad('a short block hash', '"blockHash":"0x00"', 'blockHash', '0x00'),
  bad('a tag as block hash', '"blockHash":"latest"', 'blockHash'),
  bad('a block hash with fromBlock', `"blockHash":"${HASH}","fromBlock":"0x1"`, 'blockHash', 'fromBlock'),
  bad('a block hash with toBlock', `"toBlock":"latest","blockHash":"${HASH}"`, 'blockHash', 'toBlock'),
  bad(
    'a block hash with a bound, before a limit',
    `"blockHash":"${HASH}","toBlock":1,"count":201`,
    'toBlock',
  ),

  ...QUANTITIES,
  bad('pending as fromBlock', '"fromBlock":"pending"', 'fromBlock', 'pending', 'latest'),
  bad('pending as toBlock', '"toBlock":"pending"', 'toBlock', 'pending'),
  bad('a block hash as fromBlock', `"fromBlock":"${HASH}"`, 'fromBlock'),
  bad('a block hash as toBlock', `"toBlock":"${HASH}"`, 'toBlock'),
  bad('an unknown tag', '"toBlock":"newest"', 'toBlock', 'newest', 'finalized'),

  bad('a short address', '"fromAddress":["0x12"]', 'fromAddress[0]', '0x12'),
  bad('an address without 0x', `"toAddress":["${ADDRESS.slice(2)}00"]`, 'toAddress[0]'),
  bad('an invalid second address', `"toAddress":["${ADDRESS}","${ADDRESS}0"]`, 'toAddress[1]'),
  bad('null in a list of addresses', '"toAddress":[null]', 'toAddress[0]', 'null'),
  bad('a number as address', '"fromAddress":5', 'fromAddress', '5'),
  bad('an object as addresses', '"fromAddress":{}', 'fromAddress'),
  bad('an empty string as address', '"fromAddress":""', 'fromAddress'),

  bad('an unknown mode', '"mode":"or"', 'mode', 'or', 'intersection', 'union'),
  bad('a mode in capitals', '"mode":"UNION"', 'mode', 'UNION'),
  bad('an empty mode', '"mode":""', 'mode'),
  bad('a number as mode', '"mode":1', 'mode'),

  bad('a range that ends before it starts', '"fromBlock":"0x5","toBlock":"0x4"', 'fromBlock 5', 'toBlock 4'),
  bad(
    'only toBlock, because fromBlock is then the latest block',
    '"toBlock":"0x2"',
    'fromBlock',
    'toBlock 2',
  ),
  bad(
    'earliest as the end of a range',
    '"fromBlock":"latest","toBlock":"earliest"',
    'fromBlock',
    'toBlock 0',
  ),

  pastHead(
    'a toBlock past the head',
    `"fromBlock":"0x1","toBlock":${PAST_HEAD}`,
    'toBlock',
    String(PAST_HEAD),
  ),
  pastHead('a range past the head', '"fromBlock":"0x3e8","toBlock":"0x3e9"', 'fromBlock', '1000'),
  pastHead(
    'only a fromBlock past the head, because the range is then reversed',
    `"fromBlock":${PAST_HEAD}`,
    'fromBlock',
  ),

  overLimit(800, 801)('801 blocks', '"fromBlock":0,"toBlock":800', 'fromBlock', 'toBlock'),
  overLimit(800, 801)('801 blocks past the head', '"fromBlock":"0xf4240","toBlock":"0xf4560"'),
  overLimit(800, 2 ** 53 - 1)('the maximum range', '"fromBlock":0,"toBlock":9007199254740990'),
  overLimit(200, 201)('a count of 201', '"count":201', 'count'),
  overLimit(200, 201)('a count of 201 of one block', `"blockHash":"${HASH}","count":201`, 'count'),
  overLimit(200, 201)('a count of 201 in hex', '"count":"0xc9"', 'count'),
  overLimit(1000, 1001)('1,001 senders', `"fromAddress":${addresses(1001)}`, 'fromAddress'),
  overLimit(1000, 1001)('1,001 recipients', `"toAddress":${addresses(1001)}`, 'toAddress'),
  overLimit(1000, 1001)(
    'the same sender 1,001 times',
    `"fromAddress":${JSON.stringify(new Array(1001).fill(ADDRESS))}`,
    'fromAddress',
  ),

  bad('an unknown member before a limit', '"count":201,"x":1', 'x'),
  bad('an invalid address before a limit', '"count":201,"toAddress":"0x"', 'toAddress'),
  bad('an invalid quantity before the width of a range', '"fromBlock":0,"toBlock":800,"after":-1', 'after'),
  overLimit(200, 201)('a limit before the head', `"toBlock":${PAST_HEAD},"fromBlock":1,"count":201`),
  overLimit(200, 201)('a limit before a range that is reversed', '"fromBlock":5,"toBlock":4,"count":201'),
];

interface Answered {
  readonly says: string;
  readonly members: object;
  /** Numbers of the blocks in the result. */
  readonly blocks: readonly number[];
}

/** Unusual but valid filters. */
const ANSWERED: readonly Answered[] = [
  { says: 'an empty filter, which selects the latest block', members: {}, blocks: [HEAD] },
  { says: 'leading zeros', members: { fromBlock: '0x0003', toBlock: `0x${'0'.repeat(80)}3` }, blocks: [3] },
  { says: 'hex in capitals', members: { fromBlock: '0x3', toBlock: '0x3', count: '0xC8' }, blocks: [3] },
  { says: 'a JSON integer written 3.0', members: { fromBlock: 3, toBlock: 3 }, blocks: [3] },
  { says: 'earliest as both bounds', members: { fromBlock: 'earliest', toBlock: 'earliest' }, blocks: [] },
  { says: 'null in place of every member', members: nulls(), blocks: [HEAD] },
  { says: 'empty lists of addresses', members: { fromAddress: [], toAddress: [] }, blocks: [HEAD] },
  { says: 'a count of 0', members: { fromBlock: 0, toBlock: HEAD, count: 0 }, blocks: [] },
  { says: 'an after past all traces', members: { fromBlock: 0, after: Number.MAX_SAFE_INTEGER }, blocks: [] },
  {
    says: 'an after past all traces in hex',
    members: { fromBlock: 0, after: '0x1fffffffffffff' },
    blocks: [],
  },
];

function nulls(): object {
  const members = ['fromBlock', 'toBlock', 'fromAddress', 'toAddress', 'mode', 'after', 'count'];
  return Object.fromEntries(members.map((member) => [member, null]));
}

describe('trace_filter', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startSharedChain();
    floodgate = await startFloodgate({ upstream: chain.anvil.url, args: ['--index-from', '0'] });
    expect(chain.head).toBe(HEAD);
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  async function send(params: string): Promise<{ status: number; text: string }> {
    const response = await fetch(floodgate.gatewayUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"jsonrpc":"2.0","id":1,"method":"trace_filter","params":${params}}`,
    });
    return { status: response.status, text: await response.text() };
  }

  describe('rejects', () => {
    it.each(ROWS)('$says', async ({ params, code, names, data }) => {
      const { status, text } = await send(params);
      const answer = JSON.parse(text) as FilterAnswer;
      expect(status).toBe(200);
      expect(answer).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code, message: expect.any(String), ...(data !== undefined && { data }) },
      });
      for (const name of names) expect(answer.error?.message).toContain(name);
      // The quoted value is truncated, so the response does not grow with the request.
      expect(text.length).toBeLessThan(600);
    });
  });

  describe('accepts', () => {
    it.each(ANSWERED)('$says', async ({ members, blocks }) => {
      const { result, error } = await callTraceFilter(floodgate.gatewayUrl, members);
      expect(error).toBeUndefined();
      expect([...new Set(result?.map(({ blockNumber }) => blockNumber))]).toEqual(blocks);
    });

    it('null, [] and [{}] as params, which select the latest block', async () => {
      for (const params of ['null', '[]', '[{}]']) {
        const { text } = await send(params);
        expect(JSON.parse(text).result?.[0]?.blockNumber, params).toBe(HEAD);
      }
    });

    it('a filter for one transfer and returns the published members in their order', async () => {
      const recipient = `0x${'70997970C51812dc3A010C7d01b50e0d17dc79C8'}`;
      const { node, number } = await oneTransfer(recipient);
      const [block] = await node.batch<{ hash: string; transactions: string[] }>([
        ['eth_getBlockByNumber', number, false],
      ]);
      await untilIndexed(Number(number));
      const { text } = await send(`[{"toAddress":["${recipient}"]}]`);
      expect(text).toBe(
        '{"jsonrpc":"2.0","id":1,"result":[{"action":{"callType":"call",' +
          '"from":"0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266","gas":"0x0","input":"0x",' +
          '"to":"0x70997970c51812dc3a010c7d01b50e0d17dc79c8","value":"0x10"},' +
          `"blockHash":"${block?.hash}","blockNumber":${Number(number)},` +
          '"result":{"gasUsed":"0x0","output":"0x"},"subtraces":0,"traceAddress":[],' +
          `"transactionHash":"${block?.transactions[0]}","transactionPosition":0,"type":"call"}]}`,
      );
    });

    it('a filter for all blocks and returns sorted members and lower-case hex in every trace', async () => {
      const { result = [] } = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: 0, toBlock: HEAD });
      expect(result.length).toBeGreaterThan(100);
      for (const trace of result) {
        expect(Object.keys(trace)).toEqual(Object.keys(trace).sort());
        expect(JSON.stringify(trace)).not.toMatch(/"0x[0-9a-f]*[A-F]/);
      }
    });
  });

  async function oneTransfer(to: string) {
    const node = connect(chain.anvil.url);
    await node.call('eth_sendTransaction', {
      from: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      to,
      value: '0x10',
      gas: '0x5208',
    });
    await node.call('evm_mine');
    return { node, number: await node.call<string>('eth_blockNumber') };
  }

  async function untilIndexed(number: number): Promise<void> {
    // A request for a block between the heads of index and node waits until it is indexed.
    const { error } = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: number, toBlock: number });
    expect(error).toBeUndefined();
  }
});
