import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { anvilBinary } from './anvilBinary.ts';
import { connect } from './node.ts';
import { type Exit, startProcess } from './nodeProcess.ts';
import { keepState, notSaved } from './stateFile.ts';

/**
 * The states that anvil keeps, one a block: reorganisations reach back as far, and so do balances and calls. More would
 * take a megabyte a block from memory in a chain of thousands, or go to a folder of anvil's own choosing.
 */
export const KEPT_STATES = 128;
/** The line that anvil prints once it listens. */
const LISTENING = /^Listening on (\S+)$/;

export interface AnvilOptions {
  /** Where the chain is kept between runs. Left out: it lives as long as the process. */
  readonly statePath?: string;
  /** Mine a block every so often. Left out: a block is mined when `evm_mine` asks for one. */
  readonly blockTimeMs?: number;
  /** Where it listens. Left out: on any free port. */
  readonly port?: number;
  /** Further flags of anvil's command line. */
  readonly extraArgs?: readonly string[];
  /** Hears what is worth telling, a sentence a call. */
  readonly log?: (line: string) => void;
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
 * @throws NoAnvilError where there is none, Error with anvil's last lines where it does not start.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const log = options.log ?? (() => {});
  const file = anvilBinary();
  const launch = (fresh: boolean): Promise<Anvil> => launchAnvil({ ...options, log, file, fresh });
  const { statePath } = options;
  if (statePath === undefined || !existsSync(statePath)) return launch(true);
  try {
    return await launch(false);
  } catch (reason) {
    const aside = `${statePath}.unreadable`;
    await rename(statePath, aside);
    const anvil = await launch(true).catch(async () => {
      await rename(aside, statePath); // it does not start without it either: not the state's fault
      throw reason;
    });
    log(
      `the development chain's state could not be read and was moved to ${aside}; it starts afresh: ${reason}`,
    );
    return anvil;
  }
}

interface Launch extends AnvilOptions {
  readonly log: (line: string) => void;
  /** The binary. */
  readonly file: string;
  readonly fresh: boolean;
}

async function launchAnvil(options: Launch): Promise<Anvil> {
  const { statePath, blockTimeMs, port = 0, extraArgs = [], log, file, fresh } = options;
  const mining = blockTimeMs === undefined ? ['--no-mining'] : ['--block-time', String(blockTimeMs / 1_000)];
  const state = fresh || statePath === undefined ? [] : ['--load-state', statePath];
  // Arrival decides the order in a block.
  const fixed = [
    ...['--host', '127.0.0.1', '--port', String(port), '--order', 'fifo'],
    ...['--prune-history', String(KEPT_STATES)],
  ];
  const args = [...fixed, ...mining, ...state, ...extraArgs];
  const child = await startProcess({ name: 'anvil', file, args, ready: LISTENING });
  const { pid, exited } = child;
  const url = `http://${child.match}`;
  const node = connect(url);

  const keeper = statePath === undefined ? undefined : keepState({ node, path: statePath, log });
  exited.finally(() => keeper?.close());

  const save = async (): Promise<void> => keeper?.save();
  const end = async (): Promise<void> => {
    keeper?.close();
    if (child.runs()) await save().catch((error) => log(notSaved(error)));
    await child.stop();
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= end();
    return stopped;
  };
  return { url, pid, fresh, save, stop, exited };
}
