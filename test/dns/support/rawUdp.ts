import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnGuarded } from '../../support/spawn.ts';

const SCRIPT = fileURLToPath(new URL('./rawUdp.py', import.meta.url));

/** Reason why tests that need raw sockets are skipped; undefined if they can run. */
export const noRawSockets: string | undefined =
  process.getuid?.() !== 0
    ? 'raw sockets need root'
    : spawnSync('python3', ['-c', 'import socket']).status !== 0
      ? 'python3 is not installed'
      : undefined;

/** Sends UDP packets over loopback from any source port, including port 0. */
export class RawUdp {
  readonly #child = spawnGuarded('python3', [SCRIPT], { stdin: 'pipe' });
  readonly #lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();

  async open(): Promise<this> {
    this.#child.stderr.pipe(process.stderr);
    await this.#lines.next();
    return this;
  }

  /** Resolves when the packet is in the receiver's socket buffer; loopback has no delay. */
  async send(sourcePort: number, targetPort: number, payload: Uint8Array): Promise<void> {
    this.#child.stdin?.write(`${sourcePort} ${targetPort} ${Buffer.from(payload).toString('hex')}\n`);
    const { done } = await this.#lines.next();
    if (done === true) throw new Error('the raw socket was closed: see the output of Python');
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await exited;
  }
}
