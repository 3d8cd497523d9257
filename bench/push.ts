/**
 * Processor time to find and notify the subscribers of one block of 400 logs, without sending: heavy subscribers must
 * not delay others. Each case has at most 1,000 matches, except the last, whose time is divided by its deliveries.
 */
import { randomBytes } from 'node:crypto';
import { liveLog, Subscribers, wantedLogs } from '../src/ethereum/gateway/index.ts';
import { row } from './support/turns.ts';

const LOGS = 400;
const SUBSCRIBERS = 10_000;
const BLOCKS = 21;
const MAX_MS = 'below 20 ms';

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;
const several = (count: number, make: () => string): string[] => Array.from({ length: count }, make);
const pick = (values: readonly string[]): string => values[Math.floor(Math.random() * values.length)] ?? '';

/** Values that occur in every block. */
const CONTRACTS = several(150, () => hex(20));
const EVENTS = several(50, () => hex(32));
const ACCOUNTS = several(300, () => hex(32));
const TRANSFER = hex(32);

/** Returns the logs of one block: half of them are transfers, and all values are frequent. */
const logsOf = (blockNumber: number) =>
  Array.from({ length: LOGS }, (_, i) =>
    liveLog({
      address: CONTRACTS[i % CONTRACTS.length],
      topics: [i % 2 === 0 ? TRANSFER : EVENTS[i % EVENTS.length], pick(ACCOUNTS), pick(ACCOUNTS)],
      data: hex(64),
      blockNumber: `0x${blockNumber.toString(16)}`,
      logIndex: `0x${i.toString(16)}`,
    }),
  );

interface Case {
  readonly name: string;
  readonly subscribers: number;
  readonly filterOf: (i: number) => Parameters<typeof wantedLogs>[0];
}

const CASES: readonly Case[] = [
  {
    name: 'one contract and event each',
    subscribers: SUBSCRIBERS,
    filterOf: (i) => ({ address: i < 300 ? pick(CONTRACTS) : hex(20), topics: [TRANSFER] }),
  },
  {
    name: 'transfers to one account each',
    subscribers: SUBSCRIBERS,
    filterOf: () => ({ address: CONTRACTS, topics: [TRANSFER, null, hex(32)] }),
  },
  {
    name: 'frequent values and ten of their own',
    subscribers: SUBSCRIBERS,
    filterOf: () => ({ topics: [[TRANSFER], several(10, () => hex(32)), pick(ACCOUNTS)] }),
  },
  {
    name: '500 with 1,000 topics that occur, no match',
    subscribers: 500,
    filterOf: () => ({
      topics: [
        [TRANSFER, ...EVENTS, ...several(949, () => hex(32))],
        [...ACCOUNTS, ...several(700, () => hex(32))],
        [...ACCOUNTS, ...several(700, () => hex(32))],
        several(1_000, () => hex(32)),
      ],
    }),
  },
];
const ALL: Case = { name: 'no filter', subscribers: SUBSCRIBERS, filterOf: () => ({}) };

function run({ subscribers, filterOf }: Case, blocks: number): { times: number[]; deliveries: number } {
  const feed = new Subscribers<ReturnType<typeof liveLog>>();
  let deliveries = 0;
  const push = (): void => void deliveries++;
  for (let i = 0; i < subscribers; i++)
    feed.add(wantedLogs(filterOf(i)), { client: String(i % 1_000), push, missed: () => undefined });
  const times: number[] = [];
  for (let blockNumber = 1; blockNumber <= blocks; blockNumber++) {
    const logs = logsOf(blockNumber);
    const start = process.cpuUsage();
    for (const _ of feed.send({ blockNumber, moment: feed.moment() }, logs));
    for (const _ of feed.deliver());
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1_000);
  }
  return { times, deliveries: deliveries / blocks };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >>> 1] ?? Number.NaN;

for (const one of CASES) {
  const { times, deliveries } = run(one, BLOCKS);
  const note = `ms; first block ${times[0]?.toFixed(1)} ms, ${Math.round(deliveries)} deliveries per block`;
  row({ name: one.name, value: median(times.slice(1)), must: MAX_MS, note });
}
const { times, deliveries } = run(ALL, 3);
row({
  name: ALL.name,
  value: (1_000 * median(times)) / deliveries,
  must: '',
  note: `µs per delivery of ${deliveries}`,
});
