import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config/index.ts';

/**
 * The log, on standard error, so that standard output is for answers: readable lines on a terminal, else one JSON object a
 * line. Headers and bodies are never part of it.
 */
export function createLogger(level: Config['log']['level']): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!process.stderr.isTTY) return pino(options, pino.destination({ dest: 2, sync: true }));
  const stream = pretty({
    destination: 2,
    sync: true,
    colorize: true,
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
  });
  return pino(options, stream);
}
