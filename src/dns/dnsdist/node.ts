import { createHash } from 'node:crypto';
import type { GuardLog } from '../proxy/index.ts';
import type { DnsdistConsole } from './console.ts';

/**
 * One dnsdist, brought to what is wanted of it. A node that is away holds up no other one; when it is back, or was
 * started anew, it gets everything.
 */
export class DnsdistNode {
  readonly console: DnsdistConsole;
  readonly #log: GuardLog;
  #wanted = '';
  #inForce = '';
  #failing = '';
  #bringing: Promise<void> | undefined;

  constructor(console: DnsdistConsole, log: GuardLog) {
    this.console = console;
    this.#log = log;
  }

  /** Whether the node said that it has this command in force, over a connection that still stands. */
  has(command: string): boolean {
    return this.console.connected && this.#inForce === command;
  }

  /** Brings the command into force now; call it again every second, for a node that was away. */
  want(command: string): void {
    this.#wanted = command;
    this.#bringing ??= this.#bring().finally(() => {
      this.#bringing = undefined;
    });
  }

  /** Resolves when nothing is on its way to the node. */
  async settled(): Promise<void> {
    await this.#bringing;
  }

  async #bring(): Promise<void> {
    while (!this.has(this.#wanted)) {
      const command = this.#wanted;
      try {
        await this.console.run(unlessInForce(command));
        this.#inForce = command;
        this.#failing = '';
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== this.#failing)
          this.#log.warn({ reason }, 'dnsdist goes on with the last rules it got');
        this.#failing = reason;
        return;
      }
    }
  }
}

/** Rules that are set again come with full buckets: a node that has these already keeps what it has. */
function unlessInForce(command: string): string {
  const mark = createHash('sha256').update(command).digest('hex');
  return `if floodgateInForce~="${mark}" then ${command} floodgateInForce="${mark}" end`;
}
