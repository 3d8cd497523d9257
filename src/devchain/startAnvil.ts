import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { inBackground } from '../platform/background/index.ts';
import { anvilBinary } from './anvilBinary.ts';
import { connect } from './node.ts';
import { type Exit, startProcess } from './nodeProcess.ts';
import { keepFirstGenesis, keepState, notSaved } from './stateFile.ts';

/** Number of newest blocks whose states anvil keeps, for reorganisations and historical calls. A state takes 1 MB. */
export const KEPT_STATES = 128;
const LISTENING = /^Listening on (\S+)$/;

export interface AnvilOptions {
  /** Path of the file that stores the chain between runs. Default: the chain is lost when the process ends. */
  readonly statePath?: string;
  /** Interval between blocks. Default: a block is mined only when `evm_mine` is called. */
  readonly blockTimeMs?: number;
  /** Port on the loopback address. Default: a free port. */
  readonly port?: number;
  readonly extraArgs?: readonly string[];
  /** Receives messages for the user, one sentence per call. */
  readonly log?: (line: string) => void;
}

export interface Anvil {
  readonly url: string;
  readonly pid: number;
  /** True if the chain is new, because there was no saved state or anvil could not read the state. */
  readonly fresh: boolean;
  /** Saves the chain now. Does nothing if the options have no `statePath`. */
  save(): Promise<void>;
  /** Saves the chain if the options have a `statePath`, then ends the process. May be called more than once. */
  stop(): Promise<void>;
  /** Resolves when the process has ended for any reason. Never rejects. */
  readonly exited: Promise<Exit>;
}

/**
 * Starts anvil on a loopback port, and resolves when anvil accepts requests. anvil cannot outlive this process. With
 * a `statePath`, the chain is saved every half minute and on stop, and the next start continues the chain. If anvil
 * cannot read the state, the file is renamed and a new chain begins (`fresh`). Throws NoAnvilError, or Error with the
 * last lines of anvil's output if anvil does not start.
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
      await rename(aside, statePath); // anvil does not start without the state either, so the state is not the cause
      throw reason;
    });
    log(
      `the development chain's state could not be read and was moved to ${aside}; starting a new chain: ${reason}`,
    );
    return anvil;
  }
}

interface Launch extends AnvilOptions {
  readonly log: (line: string) => void;
  readonly file: string;
  readonly fresh: boolean;
}

async function launchAnvil(options: Launch): Promise<Anvil> {
  const { statePath, blockTimeMs, port = 0, extraArgs = [], log, file, fresh } = options;
  const mining = blockTimeMs === undefined ? ['--no-mining'] : ['--block-time', String(blockTimeMs / 1_000)];
  const loaded = fresh ? undefined : statePath;
  if (loaded !== undefined) await keepFirstGenesis(loaded);
  const state = loaded === undefined ? [] : ['--load-state', loaded];
  // `fifo` orders the transactions of a block by their arrival.
  const fixed = [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--order',
    'fifo',
    '--prune-history',
    String(KEPT_STATES),
  ];
  const args = [...fixed, ...mining, ...state, ...extraArgs];
  const child = await startProcess({ name: 'anvil', file, args, ready: LISTENING });
  const { pid, exited } = child;
  const url = `http://${child.match}`;
  const node = connect(url);

  const keeper = statePath === undefined ? undefined : keepState({ node, path: statePath, log });
  inBackground('development chain state', () => exited.then(() => keeper?.close()));

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
