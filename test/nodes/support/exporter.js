// Child process that exports a range of an index that the test writes: each message makes it read one more page.
import { exportTraces } from '../../../dist/server/jobs/exportTraces.js';

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
