import { type Logger, type LoggerOptions, pino } from 'pino';
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
  const logger = loggerTo(level, write);
  pipe?.onDropped((lines) => logger.warn({ lines }, 'log lines dropped: slow reader'));
  return { logger, droppedLines: () => pipe?.dropped ?? 0, release };
}

const CONTROL = /\p{C}/gu;
/** Control characters that JSON does not escape. */
const UNESCAPED = /[^\P{C}\n]/gu;

/**
 * Returns a logger without control characters in messages and fields: texts of nodes and other servers must not forge
 * lines or control the terminal of the reader.
 */
export function loggerTo(level: string, write: (line: string) => unknown): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: {
      // On a terminal, the message is not shown as JSON, so line breaks in it are replaced here.
      logMethod(entry, log) {
        const [fields, message, ...rest] = entry as unknown[];
        log.apply(this, [plain(fields), plain(message), ...rest] as typeof entry);
      },
    },
  };
  return pino(options, { write: (line: string) => write(line.replaceAll(UNESCAPED, '\uFFFD')) });
}

const plain = (part: unknown): unknown =>
  typeof part === 'string' ? part.replaceAll(CONTROL, '\uFFFD') : part;

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
