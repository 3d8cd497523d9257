import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, describe, expect, it } from 'vitest';
import { recordedFiles } from '../../../test/conformance/recorded.ts';
import { cryoBlocks, cryoColumns } from '../../../test/support/cryoFiles.ts';
import { Random } from '../../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../test/support/syntheticChain.ts';
import { parseTraceBlock } from '../traces/convert/index.ts';
import { type Hash, indexBlock, type Trace } from '../traces/index.ts';
import { FileSource, type FileSourceDependencies, type ImportNode } from './fileSource.ts';
import { prepareUnit } from './prepareUnit.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GENESIS = `0x${'ab'.repeat(32)}` as Hash;
const CHAIN = { chainId: 31_337, genesisHash: GENESIS };
let files = 0;
const fileOf = (content: string | Uint8Array): string => {
  const path = join(folder, `file${files++}`);
  writeFileSync(path, content);
  return path;
};
const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Blocks 5 to 5 + count - 1 with traces of every type. */
function chainOf(count: number, seed = 1): SyntheticBlock[] {
  const random = new Random(seed);
  const shape = { addresses: syntheticAddresses(9), maxTransactions: 4, maxFrames: 6 };
  const blocks: SyntheticBlock[] = [];
  for (let number = 5; number < 5 + count; number++)
    blocks.push(syntheticBlock(random, shape, { number, parentHash: blocks.at(-1)?.header.hash }));
  return blocks;
}

const headerRow = ({ header, traces }: SyntheticBlock) => ({
  blockNumber: header.number,
  blockHash: header.hash,
  parentHash: header.parentHash,
  timestamp: header.timestamp,
  traceCount: traces.length,
  ...CHAIN,
});

interface Opened extends Partial<FileSourceDependencies> {
  readonly traces: readonly string[];
  readonly headers: readonly string[];
  readonly node?: ImportNode;
  readonly chain?: typeof CHAIN;
}

async function opened({ traces, headers, node, chain = CHAIN, ...other }: Opened): Promise<FileSource> {
  const source = await FileSource.open({ traces, headers }, { prepare: prepareUnit, threads: 2, ...other });
  source.begin(chain, node);
  return source;
}

async function contentsOf(source: FileSource) {
  try {
    const blocks = [];
    for (let { number } = source.first; number <= source.last.number; number++)
      blocks.push(await source.indexedBlock(number));
    return blocks;
  } finally {
    await source.close();
  }
}

const exported = (blocks: readonly SyntheticBlock[]) => ({
  traces: fileOf(linesOf(blocks.flatMap(({ traces }) => traces))),
  headers: fileOf(linesOf(blocks.map(headerRow))),
});

describe("Floodgate's own files", () => {
  it('are divided at blocks, in parts of any size, and in files in any order', async () => {
    const blocks = chainOf(30);
    const wanted = blocks.map(({ header, traces }) => indexBlock(header, traces));
    const [one, two] = [exported(blocks.slice(0, 12)), exported(blocks.slice(12))];
    for (const partBytes of [1, 700, 5_000, 1e9]) {
      const traces = [two.traces, one.traces];
      const source = await opened({ traces, headers: [two.headers, one.headers], partBytes });
      // Blocks may be requested again, in any order.
      expect(await source.indexedBlock(27)).toEqual(wanted[22]);
      expect(await source.indexedBlock(7)).toEqual(wanted[2]);
      expect(await contentsOf(source), `${partBytes}`).toEqual(wanted);
    }
  });

  it.each([
    [
      'cut off at a line',
      (text: string) => text.slice(0, text.trimEnd().lastIndexOf('\n') + 1),
      /traces, the header says/,
    ],
    [
      'cut off in a line',
      (text: string) => text.slice(0, -30),
      /row \d+ must be a JSON object; is the file cut off\?/,
    ],
    [
      'wrong in a member',
      (text: string) => text.replace('"gas":"0x', '"gas":"zz'),
      /row \d+: block \d+: action\.gas must be a number .*"zz/,
    ],
    [
      'wrong in a block',
      (text: string) => text.replace(/"blockNumber":\d+/, '"blockNumber":"x"'),
      /row 1: blockNumber must be a decimal number/,
    ],
    [
      'nested deeply in a member',
      (text: string) =>
        text.replace(/"blockNumber":\d+/, `"blockNumber":${'['.repeat(50_000)}${']'.repeat(50_000)}`),
      /row 1: blockNumber must be text or a number, it is a list/,
    ],
    [
      'cut off in the first line',
      (text: string) => text.slice(0, 30),
      /row 1 must be a JSON object; is the file/,
    ],
    [
      'neither JSON nor CSV',
      (text: string) => `"${text}`,
      /the first line has a quotation that is not closed; is the file cut off\?/,
    ],
    [
      'without a frame',
      (text: string) => text.slice(text.indexOf('\n') + 1),
      /row \d+: traces do not fit block \d+: the file has/,
    ],
    ['not in order', (text: string) => text.trimEnd().split('\n').reverse().join('\n'), /ascending order/],
  ])('are rejected if they are %s', async (_, damage, message) => {
    const { traces, headers } = exported(chainOf(10));
    const damaged = fileOf(damage(readFileSync(traces, 'utf8')));
    const reading = opened({ traces: [damaged], headers: [headers] }).then(contentsOf);
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toMatchObject({
      name: 'ImportError',
      message: expect.stringContaining(damaged),
    });
  });

  it('may begin with a byte order mark and empty lines, as some editors write them', async () => {
    const blocks = chainOf(3);
    const { traces, headers } = exported(blocks);
    const marked = fileOf(`\ufeff${readFileSync(traces, 'utf8')}`);
    const spaced = fileOf(`\r\n\r\n${readFileSync(headers, 'utf8')}`);
    expect(await contentsOf(await opened({ traces: [marked], headers: [spaced] }))).toEqual(
      blocks.map(({ header, traces }) => indexBlock(header, traces)),
    );
  });

  it('are rejected if a header is missing, is not the child of the one before, or is of another chain', async () => {
    const blocks = chainOf(10);
    const { traces } = exported(blocks);
    const rows = blocks.map(headerRow);
    const hole = fileOf(linesOf(rows.filter((_, i) => i !== 4)));
    await expect(opened({ traces: [traces], headers: [hole] }).then(contentsOf)).rejects.toThrow(
      /row 5: block 10 follows block 8/,
    );
    const other = fileOf(
      linesOf(rows.with(4, { ...headerRow(blocks[4] as SyntheticBlock), parentHash: GENESIS })),
    );
    await expect(opened({ traces: [traces], headers: [other] }).then(contentsOf)).rejects.toThrow(
      /row 5: block 9 has parent 0xabab/,
    );
    const [, , ...short] = rows;
    await expect(opened({ traces: [traces], headers: [fileOf(linesOf(short))] })).rejects.toThrow(
      /has blocks 5 to 14, but the headers are those of blocks 7 to 14/,
    );
    const headers = [fileOf(linesOf(rows))];
    const wrong = opened({ traces: [traces], headers, chain: { ...CHAIN, chainId: 1 } });
    await expect(wrong).rejects.toThrow(/headers are of chain 31337/);
  });

  it('keep blocks that no node can trace', async () => {
    const blocks = chainOf(3);
    const rows = blocks.map((block, i) =>
      i === 1 ? { ...headerRow(block), traceCount: 0, unavailable: 'timeout' } : headerRow(block),
    );
    const traces = [fileOf(linesOf(blocks.flatMap((block, i) => (i === 1 ? [] : block.traces))))];
    const [, second] = await contentsOf(await opened({ traces, headers: [fileOf(linesOf(rows))] }));
    expect(second?.block).toMatchObject({ number: 6, traceCount: 0, unavailable: 'timeout' });
  });
});

const parquetFile = (columnData: ColumnSource[], rowGroupSize = 16): string =>
  fileOf(new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize })));

describe('files of cryo', () => {
  const blocks = chainOf(24);
  const complete = blocks.filter(({ traces }) => !traces.some(({ type }) => type === 'create'));
  /** A node with all blocks, which records the numbers of the blocks that it was asked for. */
  function nodeOf(asked: number[], known: readonly SyntheticBlock[] = blocks): ImportNode {
    const find = (number: number) => known.find(({ header }) => header.number === number);
    return {
      source: {
        async block(number) {
          asked.push(number);
          return find(number);
        },
        blockRef: async (number) => find(number)?.header,
      },
      transactionCount: async ({ number }) => find(number)?.header.transactionHashes.length,
    };
  }

  it('give the same blocks as a node, which is asked only for blocks with a creation', async () => {
    const [traces, headers] = [[parquetFile(cryoColumns(blocks))], [parquetFile(cryoBlocks(blocks, false))]];
    const asked: number[] = [];
    const wanted = blocks.map(({ header, traces }) => indexBlock(header, traces));
    for (const partBytes of [1, 3_000, 1e9])
      expect(await contentsOf(await opened({ traces, headers, node: nodeOf(asked), partBytes }))).toEqual(
        wanted,
      );
    const lacking = blocks.filter((block) => !complete.includes(block)).map(({ header }) => header.number);
    expect(lacking.length).toBeGreaterThan(3);
    expect([...new Set(asked)]).toEqual(lacking);
  });

  it('need a node only for blocks that they do not have completely, and the error says so', async () => {
    const traces = [parquetFile(cryoColumns(blocks))];
    const whole = await opened({ traces, headers: [parquetFile(cryoBlocks(blocks, true))] });
    let errors = 0;
    for (const { header, traces } of blocks) {
      const reading = whole.indexedBlock(header.number);
      if (!traces.some(({ type }) => type === 'create')) {
        expect(await reading).toEqual(indexBlock(header, traces));
        continue;
      }
      await expect(reading).rejects.toThrow(/files lack the method of a creation\. .* with --node URL/);
      errors++;
    }
    expect(errors).toBeGreaterThan(3);
    await whole.close();
    const uncounted = opened({ traces, headers: [parquetFile(cryoBlocks(blocks, false))] });
    await expect(uncounted.then(contentsOf)).rejects.toThrow(/lack the number of transactions.* --node URL/);
  });

  it('without the last transaction of a block are rejected', async () => {
    const last = complete.find(({ header }) => header.transactionHashes.length > 1) as SyntheticBlock;
    const traces = last.traces.filter(
      (trace) => trace.transactionHash !== last.header.transactionHashes.at(-1),
    );
    const file = parquetFile(cryoColumns([{ ...last, traces }]));
    const headersOf = (counted: boolean) => [parquetFile(cryoBlocks([last], counted))];
    const counted = opened({ traces: [file], headers: headersOf(true) }).then(contentsOf);
    await expect(counted).rejects.toThrow(
      /row 1: traces do not fit block \d+: transaction \d+ of \d+ has no traces/,
    );
    const empty = parquetFile(cryoColumns([]));
    await expect(opened({ traces: [empty], headers: headersOf(true) }).then(contentsOf)).rejects.toThrow(
      /^traces do not fit block \d+: transaction 0 of \d+ has no traces; there are no rows of this block$/,
    );
    const asked = opened({ traces: [file], headers: headersOf(false), node: nodeOf([]) }).then(contentsOf);
    await expect(asked).rejects.toThrow(/has \d+ transactions, but the files have traces of \d+/);
  });

  it('can be compressed with LZ4 and have unsigned columns, as Polars writes them', async () => {
    const fixture = (name: string) =>
      fileURLToPath(new URL(`../../../test/fixtures/cryo/${name}`, import.meta.url));
    const [traces, headers] = [[fixture('traces.parquet')], [fixture('blocks.parquet')]];
    const source = await opened({ traces, headers, partBytes: 4_000 });
    expect([source.first, source.last]).toMatchObject([
      { number: 100, difficulty: 2n ** 63n + 5n },
      { number: 249 },
    ]);
    const action = { callType: 'delegatecall', from: `0x${'aa'.repeat(20)}`, to: `0x${'bb'.repeat(20)}` };
    const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
    const place = { blockHash: hash(1_007), blockNumber: 107, subtraces: 0, traceAddress: [] };
    const [author, wei] = [action.from, 10n ** 20n];
    const block = indexBlock(
      {
        number: 107,
        hash: hash(1_007),
        parentHash: hash(1_006),
        timestamp: 1_700_000_007,
        transactionHashes: [],
      } as never,
      [
        {
          action: { ...action, gas: '0xffffffff', input: '0x0102', value: `0x${(wei + 14n).toString(16)}` },
          ...place,
          result: { gasUsed: '0x7', output: '0x' },
          transactionHash: hash(14),
          transactionPosition: 0,
          type: 'call',
        },
        {
          action: { author, rewardType: 'block', value: `0x${(wei + 15n).toString(16)}` },
          ...place,
          result: null,
          transactionHash: null,
          transactionPosition: null,
          type: 'reward',
        },
      ] as never,
    );
    expect((await contentsOf(source))[7]).toEqual(block);
  });

  it.each<[type: string, wanted: RegExp, values: Pick<ColumnSource, 'type'> & { data: unknown }]>([
    ['DOUBLE', /text or an integer.* it is "100000000000000000000"/, { type: 'DOUBLE', data: 1e20 }],
    ['DOUBLE', /text or an integer.* it is "0.5"/, { type: 'DOUBLE', data: 0.5 }],
    ['FLOAT', /: action_value must be text or integers: floats of 32 bits/, { type: 'FLOAT', data: 3 }],
    [
      'BYTE_ARRAY',
      /a decimal number or 32 bytes, it is 3 bytes/,
      { type: 'BYTE_ARRAY', data: Buffer.from('100') },
    ],
  ])(
    'with values of the type %s that may be rounded or no numbers are rejected: %s',
    async (_type, wanted, { type, data }) => {
      const one = complete.slice(0, 1);
      const columns = cryoColumns(one).map((column) =>
        column.name === 'action_value'
          ? { name: column.name, type, data: Array.from(column.data, () => data) }
          : column,
      );
      const headers = [parquetFile(cryoBlocks(one, true))];
      const bad = parquetFile(columns as ColumnSource[]); // of the types above
      await expect(opened({ traces: [bad], headers }).then(contentsOf)).rejects.toThrow(wanted);
    },
  );

  it('that are damaged are rejected with file, row, column and value', async () => {
    const columns = cryoColumns(complete.slice(0, 1)).map((column) =>
      column.name === 'action_value' ? { ...column, data: Array.from(column.data, () => '12e3') } : column,
    );
    const bad = parquetFile(columns);
    const headers = [parquetFile(cryoBlocks(complete.slice(0, 1), true))];
    await expect(opened({ traces: [bad], headers }).then(contentsOf)).rejects.toThrow(
      `${bad}, row 1: block ${complete[0]?.header.number}: action_value must be a decimal number of at most 256 bits, it is "12e3"`,
    );
    const cut = fileOf(readFileSync(bad).subarray(0, 300));
    await expect(opened({ traces: [cut], headers })).rejects.toThrow(`${cut} is damaged`);
    const without = parquetFile(cryoColumns(complete).filter(({ name }) => name !== 'subtraces'));
    await expect(opened({ traces: [without], headers })).rejects.toThrow(
      "cryo's traces must have the columns subtraces",
    );
    const unknown = parquetFile([{ name: 'a', data: [1] }]);
    await expect(opened({ traces: [unknown], headers })).rejects.toThrow('has the columns a; known formats');
    const compressed = fileOf(gzipSync('block_number,action_type,trace_address'));
    await expect(opened({ traces: [compressed], headers })).rejects.toThrow(
      /^[\x20-\x7e]+; known formats, as Parquet or as text in UTF-8 without compression: NDJSON/,
    );
  });

  it('of a chain with transactions of the network are rejected', async () => {
    const one = complete.slice(0, 1);
    const [traces, headers] = [[parquetFile(cryoColumns(one))], [parquetFile(cryoBlocks(one, true))]];
    const chain = { chainId: 137, genesisHash: GENESIS };
    await expect(opened({ traces, headers, chain })).rejects.toThrow(/cannot be checked for Polygon/);
  });
});

describe('files of ethereum-etl', () => {
  const csv = readFileSync(
    new URL('../../../test/fixtures/ethereum-etl/traces.csv', import.meta.url),
    'utf8',
  );
  const [columns = '', ...rows] = csv.trimEnd().split('\n');
  const parent = `0x${'11'.repeat(32)}`;
  const mainnet = { chainId: 1, genesisHash: GENESIS };

  const recorded = recordedFiles('ethereum-etl/blocks', 'web3_response.trace_block').flatMap(({ json }) => {
    const { result = [] } = json as { result?: Trace[] };
    const [first] = result;
    return first === undefined || !csv.includes(`${first.blockNumber},`)
      ? []
      : [{ number: first.blockNumber, hash: first.blockHash, result }];
  });
  const filesOf = (number: number, hash: string, transactions: number) => ({
    traces: [fileOf([columns, ...rows.filter((row) => row.startsWith(`${number},`))].join('\r\n'))],
    headers: [
      fileOf(
        `number,hash,parent_hash,miner,difficulty,gas_used,timestamp,transaction_count\n${number},${hash},${parent},` +
          `${rows.find((row) => row.startsWith(`${number},,`))?.split(',')[4]},7,21000,1400000000,${transactions}\n`,
      ),
    ],
  });

  it('give the recorded traces of mainnet', async () => {
    let blocks = 0;
    for (const { number, hash, result } of recorded) {
      const traces = parseTraceBlock(structuredClone(result));
      const hashes = [...new Set(traces.flatMap(({ transactionHash }) => transactionHash ?? []))];
      const source = await opened({ ...filesOf(number, hash, hashes.length), chain: mainnet });
      if (traces.some(({ type }) => type === 'create')) {
        await expect(source.indexedBlock(number)).rejects.toThrow(/lack the method of a creation/);
        await source.close();
        continue;
      }
      const header = {
        number,
        hash,
        parentHash: parent as Hash,
        timestamp: 1_400_000_000,
        transactionHashes: hashes,
      };
      expect(await source.indexedBlock(number)).toEqual(indexBlock(header, traces));
      await source.close();
      blocks++;
    }
    expect(blocks).toBe(3);
  });

  it('with a wrong reward, or with another number of transactions than the header, are rejected', async () => {
    const { number, hash } = recorded.find((one) => one.number === 1_000_000) ?? { number: 0, hash: '' };
    const { traces, headers } = filesOf(number, hash, 2);
    const [path = ''] = traces;
    const more = fileOf(readFileSync(path, 'utf8').replace(',5000000000000000000,', ',5000000000000000001,'));
    await expect(opened({ traces: [more], headers, chain: mainnet }).then(contentsOf)).rejects.toThrow(
      /reward 0 is/,
    );
    const huge = filesOf(number, hash, Number.MAX_SAFE_INTEGER);
    await expect(opened({ ...huge, chain: mainnet }).then(contentsOf)).rejects.toThrow(
      /transaction_count must be a decimal number of at most 1000000, it is "9007199254740991"/,
    );
    const other = filesOf(number, hash, 3);
    await expect(opened({ ...other, chain: mainnet }).then(contentsOf)).rejects.toThrow(
      /transaction 2 of 3 has no traces/,
    );
    const broken = fileOf(readFileSync(path, 'utf8').replace(',call,call,', ',call,'));
    await expect(opened({ traces: [broken], headers, chain: mainnet }).then(contentsOf)).rejects.toThrow(
      /row 1 must have 18 cells/,
    );
  });
});
