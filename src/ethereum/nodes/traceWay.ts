import type { TraceSource as Way } from '../traces/convert/index.ts';
import type { NodeClient } from './nodeClient.ts';
import { probeTraces } from './probeTraces.ts';
import { NodeError } from './source.ts';

/** A node that failed may have been replaced by another client, but it is not asked anew for every block that fails. */
const ASK_AGAIN_AFTER_FAILURE_MS = 5_000;
/** A node is updated while we run: its version is looked at this often. */
const LOOK_AT_VERSION_MS = 60_000;

/** Hears what a node was found to offer. */
export type WayFound = (node: string, way: Way, notes: readonly string[]) => void;

/**
 * In which way a node gives traces: found out by asking it, anew when its version changes, which is looked at now and then
 * and after every failure, and after failures of a node that does not tell its version.
 */
export class TraceWay {
  readonly #node: NodeClient;
  readonly #found: WayFound;
  #way: Promise<Way> | undefined;
  #known: Way | undefined;
  #askedMs = 0;
  #version: string | undefined;
  #versionMs = 0;

  constructor(node: NodeClient, found: WayFound) {
    this.#node = node;
    this.#found = found;
  }

  /** Rejects with NodeError where the node cannot be asked, or offers none. */
  async current(): Promise<Way> {
    await this.#lookAtVersion();
    this.#way ??= this.#ask();
    return this.#way;
  }

  /** The node did not give what its way should have given: perhaps another client stands in its place. */
  failed(): void {
    this.#versionMs = 0;
    if (Date.now() - this.#askedMs >= ASK_AGAIN_AFTER_FAILURE_MS) this.#way = undefined;
  }

  #ask(): Promise<Way> {
    this.#askedMs = Date.now();
    const asked = this.#probe();
    asked.catch(() => {
      // Being unreachable says nothing of what it offers: the next block asks again.
      if (this.#way === asked) this.#way = undefined;
    });
    return asked;
  }

  async #probe(): Promise<Way> {
    const { source, notes } = await probeTraces(this.#node);
    if (source === 'none')
      throw new NodeError(
        'refused',
        `${this.#node.name} gives no traces in any way that is known: ${notes.join('; ')}`,
      );
    if (source !== this.#known) this.#found(this.#node.name, source, notes);
    this.#known = source;
    return source;
  }

  async #lookAtVersion(): Promise<void> {
    if (Date.now() - this.#versionMs < LOOK_AT_VERSION_MS) return;
    this.#versionMs = Date.now();
    // Not every provider tells its version; that is no reason not to take its blocks.
    const version = await this.#node.call('web3_clientVersion').catch(() => undefined);
    if (typeof version !== 'string') return;
    if (this.#version !== undefined && this.#version !== version) this.#way = undefined;
    this.#version = version;
  }
}
