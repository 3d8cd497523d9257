import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { LogWriter } from './logWriter.ts';

export interface ProgramLog {
  readonly logger: Logger;
  /** Returns how many lines were dropped because of a slow reader. */
  readonly droppedLines: () => number;
}

/** The first output of the program precedes the log, unless the start takes longer than this. */
const MAX_HELD_MS = 30_000;

/** Logs lines to standard error, as text on a terminal, otherwise as JSON. Never logs headers and bodies. */
export async function createLogger(level: Config['log']['level']): Promise<ProgramLog> {
  const { release: start, ...log } = await createHeldLogger(level);
  start();
  return log;
}

/** Like `createLogger`, but keeps the lines until `release` is called, so that the first output precedes them. */
export async function createHeldLogger(
  level: Config['log']['level'],
): Promise<ProgramLog & { readonly release: () => void }> {
  const pipe = process.stderr.isTTY ? undefined : new LogWriter(process.stderr);
  const target = pipe ?? (await terminal());
  let held: string[] | undefined = [];
  const release = (): void => {
    for (const line of held ?? []) target.write(line);
    held = undefined;
  };
  setTimeout(release, MAX_HELD_MS).unref();
  const write = (line: string): unknown => (held === undefined ? target.write(line) : held.push(line));
  const logger = pino(optionsOf(level), { write });
  pipe?.onDropped((lines) => logger.warn({ lines }, 'log lines dropped: slow reader'));
  return { logger, droppedLines: () => pipe?.dropped ?? 0, release };
}

const optionsOf = (level: Config['log']['level']) => ({
  level,
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
});

async function terminal() {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: 2,
    sync: true,
    colorize: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
  });
}
