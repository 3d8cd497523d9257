// Reads logs, transactions and traces with Subsquid's processor and its defaults, and prints the received data as JSON.
import { createRequire } from 'node:module';

const { EvmBatchProcessor } = createRequire(new URL('../../../.ci/clients/', import.meta.url))(
  '@subsquid/evm-processor',
);
const [url, head, api] = process.argv.slice(2);
const processor = new EvmBatchProcessor()
  .setRpcEndpoint(url)
  .setFinalityConfirmation(2)
  .setBlockRange({ from: 0, to: Number(head) })
  .setFields({ log: { data: true }, transaction: { status: true }, trace: { error: true } })
  .addLog({})
  .addTransaction({})
  .addTrace({});
if (api === 'trace') processor.setRpcDataIngestionSettings({ preferTraceApi: true });

const read = { blocks: 0, transactions: 0, failed: 0, logs: 0, traces: [] };
const handle = ({ blocks }) => {
  for (const { transactions, logs, traces } of blocks) {
    read.blocks++;
    read.transactions += transactions.length;
    read.failed += transactions.filter(({ status }) => status === 0).length;
    read.logs += logs.length;
    for (const { type, traceAddress, transaction } of traces)
      read.traces.push([transaction.hash, traceAddress.join('.'), type]);
  }
  // The processor waits until the last block is final, which never happens because the chain does not grow.
  if (read.blocks > Number(head)) process.stdout.write(JSON.stringify(read), () => process.exit());
};
/** A database that stores nothing. */
const database = {
  supportsHotBlocks: true,
  connect: async () => ({ height: -1, hash: '0x', top: [] }),
  transact: async (_, write) => write({}),
  transactHot: async ({ newBlocks }, write) => {
    for (const block of newBlocks) await write({}, block);
  },
};
processor.run(database, async (context) => handle(context));
