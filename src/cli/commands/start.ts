import type { Command } from 'commander';
import { ConfigError, rolesOf } from '../../config/index.ts';
import { addConfigFlags, readConfig } from '../configFlags.ts';
import { loaded } from '../loaded.ts';
import { createLogger } from '../logger.ts';
import { unlessStopped, untilSignal } from '../runUntilSignal.ts';
import { tellStart } from '../tellStart.ts';
import { tellSystemd } from '../tellSystemd.ts';

/** `floodgate start`: for real use. */
export function registerStart(program: Command): void {
  const command = program
    .command('start')
    .description(
      'run Floodgate in front of your own servers: the rules API, and the gateway in front of --upstream',
    );
  addConfigFlags(command).action(async () => {
    const config = readConfig(command);
    const roles = rolesOf(config);
    const needsNodes = roles.includes('gateway') || roles.includes('ingest');
    if (needsNodes && config.upstream.length === 0 && Object.keys(config.networks).length === 0)
      throw new ConfigError(
        'no Ethereum node to index: name one with --upstream URL (or FLOODGATE_UPSTREAM), or serve only the rules API ' +
          'with --rules-only. To try Floodgate without a node of your own run `floodgate dev`',
      );
    const { logger, droppedLines } = await createLogger(config.log.level);
    const stopped = untilSignal(logger);
    // Loaded here, so that other commands start without the server's libraries.
    const { lockDataDir, startServer } = await import('../../server/index.ts');
    tellStart(config, logger);
    const lock = lockDataDir(config.dataDir);
    try {
      const server = await unlessStopped(
        stopped,
        startServer({ config, logger, lock, droppedLogLines: droppedLines }),
      );
      if (server) tellSystemd('READY=1');
      loaded();
      await stopped;
      tellSystemd('STOPPING=1');
      await server?.stop();
    } finally {
      lock.release();
    }
    logger.info('stopped');
  });
}
