/**
 * The program of a process in which many servers run, one for each test that needs no process of its own. `runHosted` starts
 * it and tells it, a JSON object a line, what to start and to stop.
 */
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { pino } from 'pino';
import { addConfigFlags, readConfig } from '../../src/cli/index.ts';
import type { Config } from '../../src/config/index.ts';
import { type Server, startServer } from '../../src/server/index.ts';
import type { HostAnswer, HostRequest } from './runHosted.ts';

/** In the order of their requests: a stop waits for the start before it. */
const servers = new Map<number, Promise<Server>>();

createInterface(process.stdin).on('line', (line) => {
  const request = JSON.parse(line) as HostRequest; // as runHosted writes it
  carryOut(request).catch((error: unknown) => tell({ id: request.id, failed: String(error) }));
});

async function carryOut(request: HostRequest): Promise<void> {
  const { id } = request;
  if ('start' in request) {
    const started = start(id, request.start.args, request.start.env);
    servers.set(id, started);
    await started;
    return;
  }
  await (await servers.get(id))?.stop();
  servers.delete(id);
  tell({ id, stopped: true });
}

async function start(id: number, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Server> {
  const config = configOf(args, env);
  const logger = pino(
    { level: config.log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => tell({ id, line }) },
  );
  return startServer({ config, logger });
}

function tell(answer: HostAnswer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

/** As `floodgate start` reads it. */
function configOf(args: readonly string[], env: NodeJS.ProcessEnv): Config {
  const own = process.env;
  process.env = env;
  try {
    return readConfig(addConfigFlags(new Command('start')).exitOverride().parse(args, { from: 'user' }));
  } finally {
    process.env = own;
  }
}
