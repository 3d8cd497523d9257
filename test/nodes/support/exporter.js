// A process of its own that exports a range of an index which the test writes: at each message it reads one page more.
import { exportTraces } from '../../../dist/server/exportTraces.js';

const [dataDir, fromBlock, toBlock] = process.argv.slice(2);
const range = { fromBlock: Number(fromBlock), toBlock: Number(toBlock) };
const pages = exportTraces({ dataDir, network: 'mainnet', ...range, address: undefined });
process.on('message', () => {
  pages.next().then(
    ({ done, value }) => process.send({ done, traces: value }),
    ({ name, message }) => process.send({ name, message }),
  );
});
process.send('open');
