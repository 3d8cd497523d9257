import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuthorityServer, serveZones, ZoneData } from '../../../src/dns/authority/index.ts';
import { migrateSharedTraces } from '../../../src/ethereum/store/shared/index.ts';
import { ZONE_NAME, ZONE_TEXT } from '../../dns/support/guardInFront.ts';
import { type Anvil, createTraffic, startAnvil, type Traffic } from '../../support/anvil.ts';
import { ClickHouseServer } from '../../support/clickHouse.ts';
import { Postgres } from '../../support/postgres.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../../support/startFloodgate.ts';
import { rebuildTail } from '../../traces/support/rebuildTail.ts';

export const GATEWAYS = ['gateway-1', 'gateway-2'] as const;
export const INGESTS = ['ingest-1', 'ingest-2'] as const;
export const GUARDS = ['AMS', 'FRA', 'SJC'] as const;
export const ACCOUNT = 'a';
export type ServerName = (typeof GATEWAYS | typeof INGESTS | typeof GUARDS)[number];

const SERVERS: readonly ServerName[] = [...INGESTS, ...GATEWAYS, ...GUARDS];
const SEED = 71;
const BLOCKS = 30;
/** More than the blocks that a test replaces. */
const FINAL_DEPTH = 9;
/** Number of blocks that gateways keep. Most queries are about older blocks, which are in ClickHouse. */
const RECENT_BLOCKS = '4';
const REPLACED_BLOCKS = 7;

/**
 * Two gateways, two ingest servers, three guards, PostgreSQL, ClickHouse and a node: each a process that can be killed.
 */
export class Cluster {
  readonly servers = new Map<ServerName, FloodgateProcess>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'floodgate-machines-'));
  anvil!: Anvil;
  traffic!: Traffic;
  postgres!: Postgres;
  clickHouse!: ClickHouseServer;
  #authority!: AuthorityServer;
  #replacements = 0;

  async start(): Promise<void> {
    [this.anvil, this.postgres, this.clickHouse, this.#authority] = await Promise.all([
      startAnvil(),
      Postgres.start(),
      ClickHouseServer.start(),
      serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0),
    ]);
    this.traffic = await createTraffic({ url: this.anvil.url, seed: SEED });
    await this.traffic.run({ steps: BLOCKS });
    await migrateSharedTraces(this.clickHouse.url());
    await this.startServer('ingest-1');
    await Promise.all(SERVERS.slice(1).map((name) => this.startServer(name)));
  }

  async startServer(name: ServerName): Promise<void> {
    const options = { args: this.#argumentsOf(name), dataDir: this.#folderOf(name) };
    const isGuard = GUARDS.some((guard) => guard === name);
    this.servers.set(
      name,
      await startFloodgateProcess(isGuard ? options : { ...options, upstream: this.anvil.url }),
    );
  }

  /** Replaces the newest blocks, which are not final. */
  async replaceBlocks(): Promise<void> {
    const seed = SEED + ++this.#replacements;
    await rebuildTail(this.anvil.url, { depth: REPLACED_BLOCKS, blocks: REPLACED_BLOCKS + 1, seed });
  }

  async killServer(name: ServerName): Promise<void> {
    const server = this.server(name);
    this.servers.delete(name);
    await server.kill();
  }

  /** Kills a server and deletes its data folder. */
  async loseServer(name: ServerName): Promise<void> {
    await this.killServer(name);
    rmSync(this.#folderOf(name), { recursive: true });
  }

  server(name: ServerName): FloodgateProcess {
    const server = this.servers.get(name);
    if (server === undefined) throw new Error(`${name} is not running`);
    return server;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.stop()));
    await Promise.all([this.clickHouse?.remove(), this.postgres?.remove(), this.anvil?.stop()]);
    await this.#authority?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #folderOf(name: ServerName): string {
    return join(this.#folder, name);
  }

  #argumentsOf(name: ServerName): string[] {
    const rules = ['--rules-store', this.postgres.url()];
    const index = [
      '--trace-store',
      this.clickHouse.url(),
      '--index-poll-interval-ms',
      '100',
      '--index-finality',
      `depth:${FINAL_DEPTH}`,
    ];
    if (name === 'ingest-1' || name === 'ingest-2')
      return ['--role', 'ingest', ...index, '--index-from', '0'];
    if (name === 'gateway-1' || name === 'gateway-2')
      return ['--role', 'gateway,rules', '--trace-store-recent-blocks', RECENT_BLOCKS, ...rules, ...index];
    const { host, port } = this.#authority;
    return [
      '--role',
      'guard',
      ...rules,
      '--dns-account',
      ACCOUNT,
      '--dns-listen',
      '127.0.0.1:0',
      '--dns-servers',
      `${host}:${port}`,
      '--dns-region',
      'R',
      '--dns-datacenter',
      name,
    ];
  }
}
