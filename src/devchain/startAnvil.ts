import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { anvilBinary } from './anvilBinary.ts';
import { spawnGuarded } from './guardedChild.ts';
import { connect } from './node.ts';
import { saveState } from './stateFile.ts';

/** Loading a state of some 100 MB takes seconds on a slow disk; a start that takes longer than this hangs. */
const START_TIMEOUT_MS = 30_000;
/** anvil ends within milliseconds of SIGTERM; one that does not is stuck. */
const STOP_TIMEOUT_MS = 5_000;
/** What a kill can cost: the blocks of this time. At a block a second, fewer than the 64 that are not final. */
const SAVE_INTERVAL_MS = 30_000;
/** Of anvil's output, what an error message quotes. */
const LAST_LINES = 20;

export interface AnvilOptions {
  /** Where the chain is kept between runs. Left out: it lives as long as the process. */
  readonly statePath?: string;
  /** Mine a block every so often. Left out: a block is mined when `evm_mine` asks for one. */
  readonly blockTimeMs?: number;
  /** Further flags of anvil's command line. */
  readonly extraArgs?: readonly string[];
  /** Hears what is worth telling, a sentence a call. */
  readonly log?: (line: string) => void;
}

/** How a process ended: one of the two is set. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Anvil {
  /** The JSON-RPC endpoint, on loopback. */
  readonly url: string;
  readonly pid: number;
  /** The chain starts at its genesis: there was no state to continue from, or it could not be read. */
  readonly fresh: boolean;
  /** Saves the chain now; nothing without a `statePath`. */
  save(): Promise<void>;
  /** Saves the chain where it has a `statePath`, then ends the process. May be called more than once. */
  stop(): Promise<void>;
  /** Settles when the process has ended, for whatever reason. */
  readonly exited: Promise<Exit>;
}

/**
 * Starts anvil on a free loopback port and resolves when it answers. It cannot outlive this process.
 *
 * A chain with a `statePath` is saved there every half minute and when it is stopped, and continued by the next
 * start. A state that anvil cannot read is moved aside and the chain starts afresh (`fresh`).
 *
 * @throws Error with anvil's last lines where it does not start.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const log = options.log ?? (() => {});
  const { statePath } = options;
  if (statePath === undefined || !existsSync(statePath)) return launch(options, log, true);
  try {
    return await launch(options, log, false);
  } catch (reason) {
    const anvil = await launch(options, log, true).catch(() => Promise.reject(reason)); // not the state's fault
    const aside = `${statePath}.unreadable`;
    await rename(statePath, aside);
    log(
      `the development chain's state could not be read and was moved to ${aside}; it starts afresh: ${reason}`,
    );
    return anvil;
  }
}

async function launch(options: AnvilOptions, log: (line: string) => void, fresh: boolean): Promise<Anvil> {
  const { statePath, blockTimeMs, extraArgs = [] } = options;
  const mining = blockTimeMs === undefined ? ['--no-mining'] : ['--block-time', String(blockTimeMs / 1_000)];
  const state = fresh || statePath === undefined ? [] : ['--load-state', statePath];
  // Arrival decides the order in a block, and no state leaves memory for a folder of anvil's own choosing.
  const fixed = ['--host', '127.0.0.1', '--port', '0', '--order', 'fifo', '--max-persisted-states', '0'];
  const child = spawnGuarded(anvilBinary(), [...fixed, ...mining, ...state, ...extraArgs]);
  const exited = exitOf(child);
  const { url, pid } = await listening(child, exited);
  const node = connect(url);

  let saving: Promise<void> = Promise.resolve();
  const save = (): Promise<void> => {
    if (statePath === undefined) return Promise.resolve();
    saving = saving.catch(() => {}).then(() => saveState(node, statePath));
    return saving;
  };
  const timer = setInterval(() => {
    save().catch((error) => log(`the development chain could not be saved: ${error}`));
  }, SAVE_INTERVAL_MS).unref();
  exited.finally(() => clearInterval(timer));

  const end = async (): Promise<void> => {
    clearInterval(timer);
    if (child.exitCode === null && child.signalCode === null)
      await save().catch((error) => log(`the development chain could not be saved: ${error}`));
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(force);
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= end();
    return stopped;
  };
  return { url, pid, fresh, save, stop, exited };
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** Waits for the line that tells the port. Reads on after it, for ever: a full pipe would stop the process. */
async function listening(child: ChildProcess, exited: Promise<Exit>): Promise<{ url: string; pid: number }> {
  const last: string[] = [];
  let deadline: NodeJS.Timeout | undefined;
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const failed = (what: string) =>
        reject(new Error(`anvil ${what}. Its last lines:\n${last.join('\n') || '(none)'}`));
      const hear = (line: string) => {
        last.push(line);
        if (last.length > LAST_LINES) last.shift();
        const match = /^Listening on (\S+)$/.exec(line);
        if (match?.[1]) resolve(match[1]);
      };
      for (const stream of [child.stdout, child.stderr])
        if (stream) createInterface({ input: stream }).on('line', hear);
      child.once('error', (error) => failed(`cannot be run (${error.message})`));
      // 'close' comes after the last of the output, which says what went wrong.
      child.once('close', (code, signal) => failed(`ended before it listened (${signal ?? `code ${code}`})`));
      deadline = setTimeout(() => failed(`did not listen within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    });
    if (child.pid === undefined) throw new Error('anvil has no process id');
    return { url: `http://${address}`, pid: child.pid };
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}
