import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { type DevelopmentChain, startDevelopmentChain } from '../../devchain/index.ts';
import { type Server, startServer } from '../../server/index.ts';
import { addConfigFlags, readConfig } from '../configFlags.ts';
import { createLogger } from '../logger.ts';
import { untilSignal } from '../runUntilSignal.ts';
import { welcome } from '../welcome.ts';

/** The chain's head is followed closely, so that what was just sent is found at once. */
const DEV_DEFAULTS = { dataDir: 'floodgate-data/dev', 'index.pollIntervalMs': 200, 'index.from': 0 };
/** With a node of one's own in place of the development chain: another chain, so another folder. */
const DEV_UPSTREAM_DEFAULTS = { dataDir: 'floodgate-data/dev-upstream' };

/** `floodgate dev`: everything on this machine, with a development chain unless a node is named. */
export function registerDev(program: Command): void {
  const command = program
    .command('dev')
    .description(
      'Try Floodgate: like start, with a development chain that makes its own traffic unless --upstream is given.',
    );
  addConfigFlags(command, DEV_DEFAULTS).action(async () => {
    const asked = readConfig(command);
    const ownNode = asked.upstream.length > 0;
    const settings = readConfig(command, ownNode ? DEV_UPSTREAM_DEFAULTS : DEV_DEFAULTS);
    const logger = createLogger(settings.log.level);
    const stopped = untilSignal(logger);

    const config: Config = { ...settings, apiToken: settings.apiToken ?? devToken(settings.dataDir) };
    const needsChain = !ownNode && !config.rulesOnly;
    const chain = needsChain ? await startDevelopmentChain({ dataDir: config.dataDir, logger }) : undefined;
    let server: Server | undefined;
    try {
      server = await startServer({
        config: { ...config, upstream: chain ? [chain.url] : config.upstream },
        logger,
      });
      process.stdout.write(welcome(server.url, config, chain?.example));
      await Promise.race([stopped, chainFailure(chain)]);
    } finally {
      await server?.stop();
      await chain?.stop();
    }
    logger.info('stopped');
  });
}

/** A token that stays the same from run to run, so that a command in the shell's history still works. */
function devToken(dataDir: string): string {
  const file = join(dataDir, 'api-token');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    const token = `fg_${randomBytes(30).toString('base64url')}`;
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    return token;
  }
}

function chainFailure(chain: DevelopmentChain | undefined): Promise<never> {
  return chain === undefined ? new Promise(() => undefined) : chain.failed;
}
