import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { LogWriter } from './logWriter.ts';

export interface ProgramLog {
  readonly logger: Logger;
  /** Returns how many lines were dropped because of a slow reader. */
  readonly droppedLines: () => number;
}

/** A terminal shows the first output of the program before the log, unless the start takes longer than this. */
const MAX_HELD_MS = 10_000;

/** Logs lines to standard error, as text on a terminal, otherwise as JSON. Never logs headers and bodies. */
export async function createLogger(level: Config['log']['level']): Promise<ProgramLog> {
  if (process.stderr.isTTY)
    return { logger: pino(optionsOf(level), await terminal()), droppedLines: () => 0 };
  const writer = new LogWriter(process.stderr);
  const logger = pino(optionsOf(level), writer);
  writer.onDropped((lines) => logger.warn({ lines }, 'log lines dropped: slow reader'));
  return { logger, droppedLines: () => writer.dropped };
}

/**
 * Like `createLogger`, but on a terminal it holds the lines until `release` is called, so that the lines of the start do
 * not come before the first output of the program.
 */
export async function createHeldLogger(
  level: Config['log']['level'],
): Promise<ProgramLog & { readonly release: () => void }> {
  if (!process.stderr.isTTY) return { ...(await createLogger(level)), release: () => undefined };
  const target = await terminal();
  let held: string[] | undefined = [];
  const release = (): void => {
    for (const line of held ?? []) target.write(line);
    held = undefined;
  };
  setTimeout(release, MAX_HELD_MS).unref();
  const write = (line: string): unknown => (held === undefined ? target.write(line) : held.push(line));
  return { logger: pino(optionsOf(level), { write }), droppedLines: () => 0, release };
}

const optionsOf = (level: Config['log']['level']) => ({
  ...{ level, base: null },
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
