import { setTimeout as pause } from 'node:timers/promises';
import type { ChainIdentity } from '../../traces/index.ts';
import { parseAddresses } from './connection/address.ts';
import { ClickHouse } from './connection/clickHouse.ts';
import { BadTraceStore, WrongTables } from './connection/failures.ts';
import { Hosts } from './connection/hosts.ts';
import { SharedReader } from './sharedReader.ts';
import { chainKeyOf } from './tables/checksums.ts';
import { checkTables, makeTables } from './tables/tables.ts';
import { type VerifySharedOptions, verifyHost } from './verifyHost.ts';
import { SharedWriter } from './writes/sharedWriter.ts';

const CLOSE_TIMEOUT_MS = 3_000;

/** Connection to the shared index. */
export interface SharedTraces {
  reader(chain: ChainIdentity): SharedReader;
  writer(chain: ChainIdentity): SharedWriter;
  /** Throws BadTraceStore if tables are missing, TraceStoreUnavailable if no host answers. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the shared index without a request. Throws BadTraceStore if the URL is invalid. */
export function openSharedTraces(url: string): SharedTraces {
  const hosts = new Hosts(parseAddresses(url).map((address) => new ClickHouse(address)));
  return {
    reader: (chain) => new SharedReader(hosts, { chain: chainKeyOf(chain) }),
    writer: (chain) => new SharedWriter(hosts, chainKeyOf(chain)),
    async check() {
      // If the result were undefined, each host would be asked.
      await hosts.run((host) => checkTables(host).then(() => true)).catch(namingTables);
    },
    async close() {
      // The hosts may be unreachable, so closing has a timeout.
      await Promise.race([hosts.close(), pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

/** Creates the missing tables of the shared index; without a cluster, on each host of the URL. */
export async function migrateSharedTraces(url: string): Promise<void> {
  const addresses = parseAddresses(url);
  const isCluster = addresses.some(({ cluster }) => cluster !== undefined);
  for (const address of isCluster ? addresses.slice(0, 1) : addresses) {
    const host = new ClickHouse(address, { isForCommands: true });
    try {
      await makeTables(host, address.cluster);
      await checkTables(host).catch(namingTables);
    } finally {
      await host.close();
    }
  }
}

/** Checks all rows of each host of the URL, as `verifyHost` does. Yields the problems. */
export async function* verifySharedTraces(url: string, options: VerifySharedOptions): AsyncGenerator<string> {
  for (const address of parseAddresses(url)) {
    const client = new ClickHouse(address, { isForCommands: true });
    try {
      await checkTables(client).catch(namingTables);
      yield* verifyHost(client, new URL(address.url).host, options);
    } finally {
      await client.close();
    }
  }
}

function namingTables(error: unknown): never {
  throw error instanceof WrongTables ? new BadTraceStore(error.message) : error;
}
