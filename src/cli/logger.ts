import { type Logger, pino } from 'pino';
import type { Config } from '../config/index.ts';
import { LogWriter } from './logWriter.ts';

/** A logger, and how many lines it had to drop because nobody read them. */
export interface ProgramLog {
  readonly logger: Logger;
  readonly droppedLines: () => number;
}

/**
 * The log, on standard error, so that standard output is for answers: readable lines on a terminal, else one JSON object a
 * line. Headers and bodies are never part of it.
 */
export async function createLogger(level: Config['log']['level']): Promise<ProgramLog> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (process.stderr.isTTY) return { logger: pino(options, await terminal()), droppedLines: () => 0 };
  const writer = new LogWriter(process.stderr);
  const logger = pino(options, writer);
  writer.onDropped((lines) => logger.warn({ lines }, 'log lines were dropped: nobody read them'));
  return { logger, droppedLines: () => writer.dropped };
}

/** Loaded only here: a server whose log is collected has no use for it. */
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
