// Makes test/fixtures/ from the recordings that test/fixtures/README.md names, unpacked into one folder:
// `node scripts/fixtures.js FOLDER`. Keeps what the tests read, and of that nothing is changed.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const [, , source] = process.argv;
if (source === undefined) throw new Error('which folder? node scripts/fixtures.js FOLDER');
const fixtures = fileURLToPath(new URL('../test/fixtures/', import.meta.url));

const all = () => true;
/** Each recorded exchange without the envelope of JSON-RPC. */
const exchanges = (json) =>
  json.map(({ request: { method, params }, response: { result } }) => ({
    request: { method, params },
    response: { result },
  }));
/** One transaction of go-ethereum's: what the node found, and under which rules; not the state that it ran on. */
const transaction = ({ genesis, context, tracerConfig, result }) => ({
  genesis: { config: genesis.config },
  context,
  tracerConfig,
  result,
});

const erigon = (method) => ({
  folder: `erigontech-rpc-tests/mainnet/${method}`,
  takes: all,
  trim: exchanges,
});
const RECORDINGS = [
  ...['trace_block', 'trace_filter', 'trace_get', 'trace_transaction'].map(erigon),
  ...['debug_traceBlockByHash', 'debug_traceBlockByNumber'].map(erigon),
  {
    folder: 'ethereum-etl',
    target: 'ethereum-etl/blocks',
    takes: (name) => /web3_response\.trace_block_|\/geth_traces\.json$/.test(name),
    trim: (json) => json,
  },
  ...['call_tracer', 'call_tracer_flat'].map((name) => ({
    folder: `go-ethereum/${name}`,
    takes: all,
    trim: transaction,
  })),
  {
    folder: 'safe-eth-py',
    target: 'safe-eth-py/trace_block',
    takes: (name) => name.startsWith('trace_block_'),
    trim: (json) => json,
  },
];

for (const { folder, target = folder, takes, trim } of RECORDINGS) {
  const lines = readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && takes(name))
    .sort()
    .map((name) => {
      const json = trim(JSON.parse(readFileSync(join(source, folder, name), 'utf8')));
      return `${JSON.stringify({ file: `${folder}/${name}`, json })}\n`;
    });
  const file = join(fixtures, `${target}.jsonl.br`);
  mkdirSync(dirname(file), { recursive: true });
  const text = Buffer.from(lines.join(''));
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  const packed = brotliCompressSync(text, { params });
  writeFileSync(file, packed);
  console.log(`${file}: ${lines.length} files, ${text.length} bytes packed into ${packed.length}`);
}
