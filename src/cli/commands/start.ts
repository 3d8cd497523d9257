import cluster from 'node:cluster';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { type Config, checkNodes, rolesOf } from '../../config/index.ts';
import { prestartThreads } from '../../dns/dataplane/embedded/threads/index.ts';
import { inBackground } from '../../platform/background/index.ts';
import { exitBetweenCommits } from '../../platform/exit/index.ts';
import type { Server } from '../../server/index.ts';
import { addConfigFlags, configFileOf, readConfig, readConfigAgain } from '../configFlags.ts';
import { createLogger } from '../logger.ts';
import { logStartup } from '../logStartup.ts';
import { notifySystemd } from '../notifySystemd.ts';
import { unlessStopped, untilSignal } from '../runUntilSignal.ts';

const EXAMPLES = `Examples:
  Protect a DNS server on this machine; one rule then decides what is limited:
    floodgate start --role rules,guard --dns-account example --dns-listen 0.0.0.0:53 --dns-servers 127.0.0.1:5300
  Serve the gateway and the trace index of an Ethereum node:
    floodgate start --upstream http://127.0.0.1:8545
  Check the configuration without a start:
    floodgate config check --config floodgate.yaml`;

/** `floodgate start`: runs a server in production. */
export function registerStart(program: Command): void {
  const command = program
    .command('start')
    .description('run Floodgate in front of your servers: the rules API, and the gateway for --upstream');
  addConfigFlags(command, { examples: EXAMPLES }).action(async () => {
    if (cluster.isWorker) {
      const { runWorker } = await import('../../server/index.ts');
      // Terminal and systemd signals also reach the workers, but only the first process handles them.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
      process.on('disconnect', () => inBackground('exit', () => exitBetweenCommits()));
      return runWorker(createLogger);
    }
    const file = configFileOf(command);
    const config = readConfig(command);
    const roles = rolesOf(config);
    checkNodes(config);
    const { account, dnsdistConsoles, threads: wantedThreads } = config.dns;
    const receivesDns = roles.includes('guard') && account !== undefined && dnsdistConsoles.length === 0;
    // DNS threads need as long to start as the server needs to load, so the two run at the same time.
    const threads = receivesDns ? prestartThreads(wantedThreads) : [];
    const { logger, droppedLines } = await createLogger(config.log.level);
    const stopped = untilSignal(logger);
    // Imported here so that other commands start without the server's libraries.
    const { lockDataDir, startServer } = await import('../../server/index.ts');
    await Promise.all(threads);
    logStartup(config, logger);
    const lock = lockDataDir(config.dataDir);
    try {
      const starting = startServer({ config, logger, lock, droppedLogLines: droppedLines });
      reloadAtHangup(starting, { read: () => readConfigAgain(command, file), logger });
      const server = await unlessStopped(stopped, starting);
      if (server) notifySystemd('READY=1');
      await stopped;
      notifySystemd('STOPPING=1');
      await server?.stop();
    } finally {
      lock.release();
    }
    logger.info('stopped');
  });
}

interface ReloadAtHangupOptions {
  readonly read: () => Config;
  readonly logger: Logger;
}

/** Reloads the configuration at SIGHUP, which never ends the process: operators of DNS servers reload with it. */
function reloadAtHangup(starting: Promise<Server>, { read, logger }: ReloadAtHangupOptions): void {
  const reloadNow = async (): Promise<void> => {
    logger.info('reloading the configuration');
    try {
      const { reload } = await starting;
      await reload(read());
      logger.info('configuration reloaded');
    } catch (error) {
      logger.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'configuration reload failed',
      );
    }
  };
  process.on('SIGHUP', () => inBackground('reload of the configuration', reloadNow));
}
