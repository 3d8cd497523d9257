// Child process that reads an index that the test writes: it replies to a range with all of its traces.
import { openTraceReader } from '../../../dist/ethereum/store/lmdb/traces/traceStore.js';

const store = openTraceReader(process.argv[2]);
process.on('message', async ({ fromBlock, toBlock }) => {
  const texts = [];
  for (let number = fromBlock; number <= toBlock; number++)
    texts.push(String(await store.blockTraces(number, 1e9)));
  process.send({ head: store.head()?.number, texts });
});
process.send('open');
