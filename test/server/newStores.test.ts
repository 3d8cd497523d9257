import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, expect, it } from 'vitest';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-new-stores-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const STORES = [
  { name: 'rules', openStore: () => openRulesStorage(dataDir) },
  { name: 'gateway', openStore: () => openGatewayStorage(dataDir, 1024) },
  { name: 'dns', openStore: () => DnsStore.open(dataDir) },
  { name: 'traces', openStore: () => openTraceStore(join(dataDir, 'traces')) },
];

/** Returns the number of the last commit of a store. */
async function commits(name: string): Promise<unknown> {
  const root = open({ path: join(dataDir, name), maxDbs: 64, readOnly: true });
  const stats = root.getStats();
  await root.close();
  return 'lastTxnId' in stats ? stats.lastTxnId : undefined;
}

it.each(STORES)(
  'a new store of $name is created in one commit, and opening it again makes no commit',
  async ({ name, openStore }) => {
    for (const start of ['first', 'second']) {
      await openStore().close();
      expect(await commits(name), `after the ${start} start`).toBe(1);
    }
  },
);
