import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../../config/index.ts';
import type { DevelopmentChain } from '../../devchain/index.ts';
import { readNamed } from '../../platform/regularFile/index.ts';
import type { DataDirLock, Server } from '../../server/index.ts';
import { addConfigFlags, readConfig } from '../configFlags.ts';
import type { ExampleFlood } from '../example/exampleFlood.ts';
import { EXAMPLE_ZONE, type ExampleZone, serveExampleZone } from '../example/exampleZone.ts';
import { MAX_SECRET_BYTES } from '../files/secretFile.ts';
import { createHeldLogger } from '../logger.ts';
import { logStartup } from '../logStartup.ts';
import { OperatorError } from '../operatorError.ts';
import { unlessStopped, untilSignal } from '../runUntilSignal.ts';
import { EXAMPLE_ACCOUNT, welcome } from '../welcome.ts';

const DNS_PORT = 8453;
const DEV_DNS = {
  'dns.account': EXAMPLE_ACCOUNT,
  'dns.listen': [`127.0.0.1:${DNS_PORT}`],
  'console.enabled': true,
};
/** Defaults for the development chain. The poll interval is short, so that a new transaction is visible at once. */
const DEV_DEFAULTS = {
  dataDir: 'floodgate-data/dev',
  'index.pollIntervalMs': 200,
  'index.from': 0,
  ...DEV_DNS,
};
/** Defaults for a node of the user. Its chain is not the development chain, so it needs another data folder. */
const DEV_UPSTREAM_DEFAULTS = { dataDir: 'floodgate-data/dev-upstream', ...DEV_DNS };
/** With `--port 0`, the ports of several instances must not collide. */
const ANY_DNS_PORT = { 'dns.listen': ['127.0.0.1:0'] };

const DEV_ROLES = ['all', 'rules', 'rules,guard'];

const EXAMPLES = `Examples:
  Try everything with a development chain:
    floodgate dev
  Try the DNS guard alone:
    floodgate dev --role rules,guard
  Try it during a flood of one minute:
    floodgate dev --flood`;

/** `floodgate dev`: runs all roles, with a development chain unless a node is configured. */
export function registerDev(program: Command): void {
  const command = program
    .command('dev')
    .description(
      'try Floodgate: like start, with a development chain and generated traffic unless --upstream is given',
    );
  command.option('--flood', 'send a test flood to the DNS guard for the first minute');
  addConfigFlags(command, { defaults: DEV_DEFAULTS, examples: EXAMPLES }).action(async () => {
    const asked = readConfig(command);
    const floods = command.opts<{ flood?: boolean }>().flood === true;
    if (!DEV_ROLES.includes(asked.role))
      throw new ConfigError(
        `role (FLOODGATE_ROLE, --role) is "${asked.role}"; allowed for floodgate dev: ${DEV_ROLES.join('; ')}. floodgate start accepts the others`,
      );
    if (asked.workers !== 1)
      throw new ConfigError(
        `workers (FLOODGATE_WORKERS, --workers) is ${asked.workers}; allowed for floodgate dev: 1. floodgate start accepts more`,
      );
    if (floods && asked.dns.servers.length > 0)
      throw new ConfigError(
        '--flood floods only the servers of the example zone: omit --dns-servers (FLOODGATE_DNS_SERVERS)',
      );
    const ownNode = asked.upstream.length > 0;
    const defaults = ownNode ? DEV_UPSTREAM_DEFAULTS : DEV_DEFAULTS;
    const settings = readConfig(command, asked.port === 0 ? { ...defaults, ...ANY_DNS_PORT } : defaults);
    const { logger, droppedLines, release } = await createHeldLogger(settings.log.level);
    const stopped = untilSignal(logger);

    // Imported here so that other commands start without the server's libraries.
    const { lockDataDir } = await import('../../server/index.ts');
    logStartup(settings, logger);
    const lock = lockDataDir(settings.dataDir);
    try {
      await runUntil(stopped, {
        settings,
        logger,
        droppedLines,
        lock,
        release,
        needsChain: !ownNode && settings.role === 'all',
        floods,
      });
    } finally {
      release();
      lock.release();
    }
    logger.info('stopped');
  });
}

interface DevRun {
  readonly settings: Config;
  readonly logger: Logger;
  readonly droppedLines: () => number;
  readonly lock: DataDirLock;
  /** Shows the log lines that were held until now. */
  readonly release: () => void;
  readonly needsChain: boolean;
  /** Whether to send the test flood at once. */
  readonly floods: boolean;
}

async function runUntil(
  stopped: Promise<unknown>,
  { settings, logger, droppedLines, lock, release, needsChain, floods }: DevRun,
): Promise<void> {
  const { setAsideForeignIndex, startServer } = await import('../../server/index.ts');
  const { dataDir } = settings;
  const zone = settings.dns.servers.length === 0 ? await serveExampleZone(dataDir) : undefined;
  // Imported here so that other commands start without its code.
  const testFlood = zone && new (await import('../example/exampleFlood.ts')).ExampleFlood(EXAMPLE_ZONE);
  let chain: DevelopmentChain | undefined;
  let server: Server | undefined;
  try {
    const started = needsChain ? await unlessStopped(stopped, startChain(dataDir, logger)) : NO_CHAIN;
    if (started === undefined) return;
    chain = started.chain;
    if (chain) await setAsideForeignIndex(dataDir, chain.url, logger);
    const apiToken = settings.apiToken ?? devToken(dataDir);
    const config: Config = {
      ...withZone(settings, zone),
      apiToken,
      upstream: chain ? [chain.url] : settings.upstream,
      role: needsChain && chain === undefined ? 'rules,guard' : settings.role,
    };
    const options = { config, logger, droppedLogLines: droppedLines, lock, testFlood };
    const starting = startServer(options);
    server = await unlessStopped(stopped, starting);
    if (server === undefined) return;
    const hasRules = await server.hasRules(EXAMPLE_ACCOUNT);
    const { missing } = started;
    const link = await server.signInLink?.(apiToken);
    const shown = { example: chain?.example, link, hasRules, missing };
    process.stdout.write(welcome(server, config, shown));
    release();
    startFlood(server, { testFlood, floods });
    await Promise.race([stopped, chainFailure(chain)]);
  } finally {
    testFlood?.stop();
    await server?.stop();
    await chain?.stop();
    await zone?.server.stop();
  }
}

/** Lets operators flood the guard of the server; starts the flood at once if `floods`. */
function startFlood(
  { dnsAddresses: [address] }: Server,
  { testFlood, floods }: { readonly testFlood: ExampleFlood | undefined; readonly floods: boolean },
): void {
  if (testFlood !== undefined && address !== undefined) testFlood.target = address;
  const problem = floods ? testFlood?.start() : undefined;
  if (problem !== undefined) throw new ConfigError(`--flood: ${problem}`);
}

interface StartedChain {
  readonly chain?: DevelopmentChain;
  /** Why there is no chain, and what to do. */
  readonly missing?: string;
}

const NO_CHAIN: StartedChain = {};

/** Starts the development chain. If anvil is missing, logs and returns how to install it. */
async function startChain(dataDir: string, logger: Logger): Promise<StartedChain> {
  // Imported here so that other commands start without the code of the development chain.
  const { NoAnvilError, startDevelopmentChain } = await import('../../devchain/index.ts');
  try {
    return { chain: await startDevelopmentChain({ dataDir, logger }) };
  } catch (error) {
    if (!(error instanceof NoAnvilError)) throw error;
    logger.warn(`starting without a gateway: ${error.message}`);
    return { missing: error.message };
  }
}

/** Puts the guard in front of the example zone, and lets it read the known names from the zone file. */
function withZone(config: Config, zone: ExampleZone | undefined): Config {
  if (zone === undefined) return config;
  const servers = [`${zone.server.host}:${zone.server.port}`];
  return { ...config, dns: { ...config.dns, servers, zones: [`${EXAMPLE_ZONE}=${zone.file}`] } };
}

/** Returns the API token in the data folder, or creates it. Commands in the shell history thus work after a restart. */
function devToken(dataDir: string): string {
  const file = join(dataDir, 'api-token');
  const kept = existsSync(file) ? readNamed(file, MAX_SECRET_BYTES).toString().trim() : '';
  // Checked, because the file may be empty after a power failure during the write below.
  if (/^[\x21-\x7e]{16,256}$/.test(kept)) return kept;
  const token = `fg_${randomBytes(30).toString('base64url')}`;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  return token;
}

function chainFailure(chain: DevelopmentChain | undefined): Promise<never> {
  if (chain === undefined) return new Promise(() => undefined);
  return chain.failed.catch((error: Error): never => {
    throw new OperatorError(`${error.message}. Start again: the chain continues from its last saved state`);
  });
}
