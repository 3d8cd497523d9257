import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { LogWriter } from './logWriter.ts';

/** A logger, and a function that returns how many lines were dropped because of a slow reader. */
export interface ProgramLog {
  readonly logger: Logger;
  readonly droppedLines: () => number;
}

/** Logs lines to standard error, as text on a terminal, otherwise as JSON. Never logs headers and bodies. */
export async function createLogger(level: Config['log']['level']): Promise<ProgramLog> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (process.stderr.isTTY) return { logger: pino(options, await terminal()), droppedLines: () => 0 };
  const writer = new LogWriter(process.stderr);
  const logger = pino(options, writer);
  writer.onDropped((lines) => logger.warn({ lines }, 'log lines dropped: slow reader'));
  return { logger, droppedLines: () => writer.dropped };
}

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
