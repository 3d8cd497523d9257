import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Hash, indexBlock } from '../../src/ethereum/traces/index.ts';
import { openRulesStorage, verifyRules } from '../../src/rules/store/lmdb/index.ts';
import { newRule } from '../rules/support/samples.ts';
import { HANG_MS } from '../support/hang.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { type GuardedChild, spawnGuarded } from '../support/spawn.ts';
import { syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';

const DIST = new URL('../../dist/', import.meta.url);
const ACTOR = { by: 'test', from: '127.0.0.1' };
const STOPS = sizeInSearch(1_000, { ordinary: 300 });
/** Number of processes that exit during a commit. */
const EXITS = sizeInSearch(30, { ordinary: 10 });
/** Longer than most commits, so that some happen while the opening process is stopped. */
const STOPPED_MS = 8;

/**
 * Program that holds the opening lock of a store for 300 ms and prints "held". It then writes to `mark` whether the
 * file changed, and releases the lock or is killed.
 */
const HOLDER = `
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { EnvironmentLock } from '${new URL('platform/storeFile/environmentLock.js', DIST)}';
const [folder, mark, end] = process.argv.slice(1);
const read = () => readFileSync(folder + '/data.mdb');
EnvironmentLock.of(folder).withOpen(() => {
  const before = read();
  writeSync(1, 'held');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  writeFileSync(mark, read().equals(before) ? 'as it was' : 'written');
  if (end === 'killed') process.kill(process.pid, 'SIGKILL');
});`;

/**
 * Program that creates and deletes rules until it receives input. Prints "lost" or "undone" for acknowledged rules
 * that are missing.
 */
const WRITER = `
import { setTimeout as pause } from 'node:timers/promises';
import { openRulesStorage } from '${new URL('rules/store/lmdb/index.js', DIST)}';
const storage = openRulesStorage(process.argv[1]);
const [actor, fields] = process.argv.slice(2).map((json) => JSON.parse(json));
let isFinished = false;
let changes = 0;
process.stdin.on('data', () => (isFinished = true));
process.stdout.write('begun ');
while (!isFinished) {
  const { item: rule } = await storage.rules.create('a', fields, { actor });
  for (let i = 0; i < 3; i++) {
    await pause(1 + 2 * Math.random());
    if (!(await storage.rules.get('a', rule.id))) process.stdout.write('lost ');
  }
  if (!(await storage.rules.delete('a', rule.id, { check() {}, actor }))) process.stdout.write('undone ');
  changes += 2;
}
await storage.close();
process.stdout.write(String(changes));
process.exit();`;

const OPENER = `
import { openRulesStorage } from '${new URL('rules/store/lmdb/index.js', DIST)}';
process.stdout.write('begun');
for (;;) {
  await openRulesStorage(process.argv[1]).close();
  await new Promise(setImmediate);
}`;

/** Program that creates rules without pause and exits with 7 after a random time. Prints the number of acknowledged rules. */
const EXITER = `
import { writeSync } from 'node:fs';
import { exitBetweenCommits } from '${new URL('platform/exit/index.js', DIST)}';
import { openRulesStorage } from '${new URL('rules/store/lmdb/index.js', DIST)}';
const storage = openRulesStorage(process.argv[1]);
const [actor, fields] = process.argv.slice(3).map((json) => JSON.parse(json));
let acknowledged = 0;
setTimeout(() => {
  process.on('exit', () => writeSync(1, String(acknowledged)));
  exitBetweenCommits(7);
}, 20 + 20 * Math.random());
for (;;) {
  await storage.rules.create(process.argv[2], { ...fields, scope: 'datacenter', name: 'd' + acknowledged }, { actor });
  acknowledged++;
}`;

const run = (code: string, ...args: string[]): GuardedChild =>
  spawnGuarded(process.execPath, ['--input-type=module', '-e', code, ...args], { stdin: 'pipe' });

const firstOutput = (child: GuardedChild): Promise<void> =>
  new Promise((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.stderr.once('data', (chunk) => reject(new Error(String(chunk))));
  });

const endOf = (child: GuardedChild): Promise<unknown> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'floodgate-opening-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Stores, with functions that open, change and close each. */
const STORES = [
  {
    name: 'rules',
    change: 'a rule',
    openStore() {
      const store = openRulesStorage(dataDir);
      return { write: () => store.rules.create('a', newRule, { actor: ACTOR }), close: () => store.close() };
    },
  },
  {
    name: 'gateway',
    change: 'the last use of a key',
    openStore() {
      const store = openGatewayStorage(dataDir, 1_000_000);
      const uses = new Map([['a', '2026-01-01T00:00:00Z']]);
      return { write: () => store.keys.noteUses(uses), close: () => store.close() };
    },
  },
  {
    name: 'dns',
    change: 'the identity of the guard',
    openStore() {
      const store = DnsStore.open(dataDir);
      const identity = { id: 'a', account: 'a', sinceMs: 0 };
      return { write: () => store.setIdentity(identity), close: () => store.close() };
    },
  },
  {
    name: 'traces',
    change: 'the chain of the index',
    openStore() {
      const store = openTraceStore(join(dataDir, 'traces'));
      const chain = { chainId: 1, genesisHash: `0x${'1'.repeat(64)}` as Hash }; // a hash of 32 bytes
      return { write: () => store.bindChain(chain), close: () => store.close() };
    },
  },
  {
    name: 'traces',
    change: 'a block with a dictionary, which is in a separate database',
    openStore() {
      const store = openTraceStore(join(dataDir, 'traces'));
      const shape = { addresses: syntheticAddresses(20), maxTransactions: 4_000, maxFrames: 8 };
      const { header, traces } = syntheticBlock(new Random(1), shape, { number: 0 });
      const change = { blocks: [indexBlock(header, traces)] };
      return { write: () => store.apply(change), close: () => store.close() };
    },
  },
];

describe('a store that another process is opening', () => {
  it.each(STORES.flatMap((store) => ['done', 'killed'].map((end) => ({ ...store, end }))))(
    '$name: writes $change only after that process is $end',
    async ({ name, openStore, end }) => {
      const store = openStore();
      const mark = join(dataDir, 'mark');
      const holder = run(HOLDER, join(dataDir, name), mark, end);
      await firstOutput(holder);
      await store.write();
      expect(readFileSync(mark, 'utf8')).toBe('as it was');
      await store.close();
    },
  );

  it('loses no acknowledged change if the opening process is stopped at random moments', async () => {
    const writer = run(WRITER, dataDir, JSON.stringify(ACTOR), JSON.stringify(newRule));
    let output = '';
    writer.stdout.on('data', (chunk) => (output += chunk));
    const ended = endOf(writer);
    await firstOutput(writer);
    const opener = run(OPENER, dataDir);
    await firstOutput(opener);
    const random = new Random(Date.now());
    for (let i = 0; i < STOPS; i++) {
      await pause(4 * random.next());
      opener.kill('SIGSTOP');
      await pause(STOPPED_MS);
      opener.kill('SIGCONT');
    }
    expect(opener.exitCode).toBe(null);
    writer.stdin?.write('enough');
    expect(await ended).toBe(0);
    // While this process exists, others that open the store may see a partial state in LMDB's shared memory.
    const gone = endOf(opener);
    opener.kill('SIGKILL');
    await gone;
    expect(output).toMatch(/^begun \d+$/);
    expect(await verifyRules(join(dataDir, 'rules'))).toEqual([]);
  });
});

describe('a process that exits while it commits', () => {
  it('ends, and loses no acknowledged change', async () => {
    const acknowledged: number[] = [];
    for (let i = 0; i < EXITS; i++) {
      const exiter = run(EXITER, dataDir, `account-${i}`, JSON.stringify(ACTOR), JSON.stringify(newRule));
      exiter.stdout.on('data', (count) => acknowledged.push(Number(count)));
      const end = await Promise.race([endOf(exiter), pause(HANG_MS, 'no exit', { ref: false })]);
      exiter.kill('SIGKILL');
      expect(end).toBe(7);
    }
    const storage = openRulesStorage(dataDir);
    for (const [i, count] of acknowledged.entries()) {
      const { length } = await storage.rules.list(`account-${i}`);
      expect([count, count + 1]).toContain(length);
    }
    await storage.close();
    expect(await verifyRules(join(dataDir, 'rules'))).toEqual([]);
  });
});
