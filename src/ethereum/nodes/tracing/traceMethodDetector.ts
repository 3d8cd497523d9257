import { awaitedLater } from '../../../platform/background/index.ts';
import type { TraceMethod } from '../../traces/convert/index.ts';
import type { NodeClient } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { DEFAULT_TRACE_LIMITS, type TraceLimits } from '../largeResponses/traceLimits.ts';
import { probeTraceMethods } from './probeTraceMethods.ts';

/** Minimum time between two probes because of failures: after a failure, the node may run other software. */
const ASK_AGAIN_AFTER_FAILURE_MS = 5_000;
/** Minimum time between two requests for the client version: a node may be updated while Floodgate runs. */
const LOOK_AT_VERSION_MS = 60_000;
/** Maximum number of blocks that are remembered because the node failed to trace them. Probes avoid these blocks. */
const MAX_FAILED_BLOCKS = 64;

/** Called if a probe chooses another trace method than before. */
export type TraceMethodFound = (method: TraceMethod, remarks: readonly string[]) => void;

/** Probes which trace method a node supports: at first use, after failures, and when the client version changes. */
export class TraceMethodDetector {
  readonly #node: NodeClient;
  readonly #found: TraceMethodFound;
  readonly #limits: TraceLimits;
  #method: Promise<TraceMethod> | undefined;
  #known: TraceMethod | undefined;
  #askedMs = 0;
  #version: string | undefined;
  #versionMs = 0;
  readonly #failedBlocks = new Set<number>();

  constructor(node: NodeClient, found: TraceMethodFound, limits = DEFAULT_TRACE_LIMITS) {
    this.#node = node;
    this.#found = found;
    this.#limits = limits;
  }

  /** Returns the node's trace method. Rejects with NodeError if the node cannot be reached or supports none. */
  async current(): Promise<TraceMethod> {
    await this.#lookAtVersion();
    this.#method ??= awaitedLater(this.#ask());
    return this.#method;
  }

  /** Records that the node failed to trace a block. `current` then checks if the node's software has changed. */
  failed(blockNumber: number): void {
    this.#failedBlocks.add(blockNumber);
    const [oldest] = this.#failedBlocks;
    if (oldest !== undefined && this.#failedBlocks.size > MAX_FAILED_BLOCKS)
      this.#failedBlocks.delete(oldest);
    this.#versionMs = 0;
    if (Date.now() - this.#askedMs >= ASK_AGAIN_AFTER_FAILURE_MS) this.#method = undefined;
  }

  #ask(): Promise<TraceMethod> {
    this.#askedMs = Date.now();
    const asked = this.#probe();
    asked.catch(() => {
      // The probe failed, so the node's trace method is still unknown. The next block probes again.
      if (this.#method === asked) this.#method = undefined;
    });
    return asked;
  }

  async #probe(): Promise<TraceMethod> {
    const { method, remarks } = await probeTraceMethods(this.#node, {
      avoid: this.#failedBlocks,
      limits: this.#limits,
    });
    if (method === 'none')
      throw new NodeError(
        'refused',
        `${this.#node.host} supports no known trace method: ${remarks.join('; ')}`,
      );
    if (method !== this.#known) this.#found(method, remarks);
    this.#known = method;
    return method;
  }

  async #lookAtVersion(): Promise<void> {
    if (Date.now() - this.#versionMs < LOOK_AT_VERSION_MS) return;
    this.#versionMs = Date.now();
    // Some providers do not report a version. Their blocks are used all the same.
    const version = await this.#node.call('web3_clientVersion').catch(() => undefined);
    if (typeof version !== 'string') return;
    if (this.#version !== undefined && this.#version !== version) this.#method = undefined;
    this.#version = version;
  }
}
