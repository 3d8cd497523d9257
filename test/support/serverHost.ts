/**
 * A process that runs many servers, for tests that need no separate process. `runHosted` starts it and sends it
 * requests, one JSON object per line.
 */
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { pino } from 'pino';
import { addConfigFlags, readConfig } from '../../src/cli/index.ts';
import type { Config } from '../../src/config/index.ts';
import { type Server, startServer } from '../../src/server/index.ts';
import type { HostAnswer, HostedServer, HostRequest } from './runHosted.ts';

/** Promises in order of requests: a stop waits for the start before it. */
const servers = new Map<number, Promise<Server>>();

createInterface(process.stdin).on('line', (line) => {
  const request = JSON.parse(line) as HostRequest; // as runHosted writes it
  carryOut(request).catch((error: unknown) => tell({ id: request.id, failed: String(error) }));
});

async function carryOut(request: HostRequest): Promise<void> {
  const { id } = request;
  if ('start' in request) {
    const started = start(id, request.start);
    servers.set(id, started);
    await started;
    return;
  }
  await (await servers.get(id))?.stop();
  servers.delete(id);
  tell({ id, stopped: true });
}

async function start(id: number, { args, env, tuning }: HostedServer): Promise<Server> {
  const config = configOf(args, env);
  const logger = pino(
    { level: config.log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => tell({ id, line }) },
  );
  return startServer({ config, logger, tuning });
}

function tell(answer: HostAnswer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

/** Reads the configuration in the same way as `floodgate start`. */
function configOf(args: readonly string[], env: NodeJS.ProcessEnv): Config {
  const own = process.env;
  process.env = env;
  try {
    return readConfig(
      addConfigFlags(new Command('start'), { examples: '' }).exitOverride().parse(args, { from: 'user' }),
    );
  } finally {
    process.env = own;
  }
}
