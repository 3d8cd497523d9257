/** Starts a guard on a store, and prints the time from the start of the process until it answers DNS. */
import { startGuard } from '../../src/dns/controller/index.ts';
import { EmbeddedDataPlane } from '../../src/dns/dataplane/embedded/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';

const store = DnsStore.open(process.argv[2] ?? '');
const options = { listen: [{ host: '127.0.0.1', port: 0 }], servers: [{ host: '127.0.0.1', port: 9 }] };
const guard = await startGuard(
  { place: {} },
  {
    dataPlane: (context) => new EmbeddedDataPlane(options, context),
    rules: { list: () => [], onChange: () => () => {} },
    profileStore: { load: () => store.load(), save: async () => {}, saveLearned: async () => {} },
  },
);
const { user, system } = process.cpuUsage();
console.log(
  `${guard.detector.profile.size} names known ${performance.now().toFixed(0)} ms after the start of the process (${((user + system) / 1000).toFixed(0)} ms of processor)`,
);
await guard.stop();
await store.close();
process.exit();
