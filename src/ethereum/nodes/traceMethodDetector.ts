import type { TraceMethod } from '../traces/convert/index.ts';
import type { NodeClient } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { probeTraceMethods } from './probeTraceMethods.ts';

/** A node that failed may have been replaced by another client, but it is not asked anew for every block that fails. */
const ASK_AGAIN_AFTER_FAILURE_MS = 5_000;
/** A node is updated while we run: its version is looked at this often. */
const LOOK_AT_VERSION_MS = 60_000;

/** Hears what a node was found to offer. */
export type TraceMethodFound = (method: TraceMethod, remarks: readonly string[]) => void;

/**
 * By which method a node gives traces: found out by asking it, anew when its version changes, which is looked at now and then
 * and after every failure, and after failures of a node that does not tell its version.
 */
export class TraceMethodDetector {
  readonly #node: NodeClient;
  readonly #found: TraceMethodFound;
  #method: Promise<TraceMethod> | undefined;
  #known: TraceMethod | undefined;
  #askedMs = 0;
  #version: string | undefined;
  #versionMs = 0;

  constructor(node: NodeClient, found: TraceMethodFound) {
    this.#node = node;
    this.#found = found;
  }

  /** Rejects with NodeError where the node cannot be asked, or offers none. */
  async current(): Promise<TraceMethod> {
    await this.#lookAtVersion();
    this.#method ??= this.#ask();
    return this.#method;
  }

  /** The node did not give what its method should have given: perhaps another client stands in its place. */
  failed(): void {
    this.#versionMs = 0;
    if (Date.now() - this.#askedMs >= ASK_AGAIN_AFTER_FAILURE_MS) this.#method = undefined;
  }

  #ask(): Promise<TraceMethod> {
    this.#askedMs = Date.now();
    const asked = this.#probe();
    asked.catch(() => {
      // Being unreachable says nothing of what it offers: the next block asks again.
      if (this.#method === asked) this.#method = undefined;
    });
    return asked;
  }

  async #probe(): Promise<TraceMethod> {
    const { method, remarks } = await probeTraceMethods(this.#node);
    if (method === 'none')
      throw new NodeError(
        'refused',
        `${this.#node.host} gives no traces in any way that is known: ${remarks.join('; ')}`,
      );
    if (method !== this.#known) this.#found(method, remarks);
    this.#known = method;
    return method;
  }

  async #lookAtVersion(): Promise<void> {
    if (Date.now() - this.#versionMs < LOOK_AT_VERSION_MS) return;
    this.#versionMs = Date.now();
    // Not every provider tells its version; that is no reason not to take its blocks.
    const version = await this.#node.call('web3_clientVersion').catch(() => undefined);
    if (typeof version !== 'string') return;
    if (this.#version !== undefined && this.#version !== version) this.#method = undefined;
    this.#version = version;
  }
}
