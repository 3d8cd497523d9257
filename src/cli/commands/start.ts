import cluster from 'node:cluster';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { type Config, ConfigError, rolesOf } from '../../config/index.ts';
import { startThreadsAhead } from '../../dns/dataplane/embedded/threads/index.ts';
import { addConfigFlags, readConfig } from '../configFlags.ts';
import { loaded } from '../loaded.ts';
import { createLogger } from '../logger.ts';
import { unlessStopped, untilSignal } from '../runUntilSignal.ts';
import { tellStart } from '../tellStart.ts';
import { tellSystemd } from '../tellSystemd.ts';
import { growNewSpaceBy, USUAL_FACTOR } from '../v8Flags.ts';

/** `floodgate start`: for real use. */
export function registerStart(program: Command): void {
  const command = program
    .command('start')
    .description(
      'run Floodgate in front of your own servers: the rules API, and the gateway in front of --upstream',
    );
  addConfigFlags(command).action(async () => {
    if (cluster.isWorker) {
      const { runWorker } = await import('../../server/index.ts');
      // What ends the primary by a signal of the terminal or of systemd is for that one to answer.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
      process.on('disconnect', () => process.exit());
      const worker = runWorker(
        {
          send: (message) => process.send?.(message),
          onMessage: (listener) => process.on('message', listener),
        },
        createLogger,
      );
      loaded();
      return worker;
    }
    const config = readConfig(command);
    const roles = rolesOf(config);
    const needsNodes = roles.includes('gateway') || roles.includes('ingest');
    if (needsNodes && config.upstream.length === 0 && Object.keys(config.networks).length === 0)
      throw new ConfigError(
        'no Ethereum node to index: name one with --upstream URL (or FLOODGATE_UPSTREAM), or serve only the rules API ' +
          'with --rules-only. To try Floodgate without a node of your own run `floodgate dev`',
      );
    const { account, dnsdistConsoles, workers } = config.dns;
    const receivesDns = roles.includes('guard') && account !== undefined && dnsdistConsoles.length === 0;
    // They take as long to start as the server takes to be loaded, and load parts of Node meanwhile.
    const threads = receivesDns ? startThreadsAhead(workers) : [];
    if (threads.length > 0) growNewSpaceBy(USUAL_FACTOR);
    const { logger, droppedLines } = await createLogger(config.log.level);
    const stopped = untilSignal(logger);
    // Loaded here, so that other commands start without the server's libraries.
    const { lockDataDir, startServer } = await import('../../server/index.ts');
    await Promise.all(threads);
    growNewSpaceBy(1);
    tellStart(config, logger);
    const lock = lockDataDir(config.dataDir);
    try {
      const server = await unlessStopped(
        stopped,
        startServer({ config, logger, lock, droppedLogLines: droppedLines }),
      );
      if (server?.reload) reloadAtHangup(server.reload, { read: () => readConfig(command), logger });
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

interface ReloadAtHangupOptions {
  /** Throws ConfigError. */
  readonly read: () => Config;
  readonly logger: Logger;
}

/** SIGHUP has what is configured read again. Without workers it ends the process, as any that does not ask for it. */
function reloadAtHangup(
  reload: (config: Config) => Promise<void>,
  { read, logger }: ReloadAtHangupOptions,
): void {
  process.on('SIGHUP', async () => {
    logger.info('reloading the configuration');
    try {
      await reload(read());
      logger.info('the configuration is reloaded');
    } catch (error) {
      logger.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'the configuration is not reloaded',
      );
    }
  });
}
