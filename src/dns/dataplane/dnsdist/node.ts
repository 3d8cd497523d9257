import { createHash } from 'node:crypto';
import type { Log } from '../../../platform/logging/index.ts';
import { ConsoleError, type DnsdistConsole } from './console.ts';

/** A node that hangs is tried anew soon, so that it has its rules soon when it is back: what it did run is not run again. */
const ATTEMPT_MS = 1000;
/** What dnsdist says about Lua that it cannot run is a line, and a trace that helps nobody. */
const MAX_REASON_CHARACTERS = 300;

/** dnsdist was reached, and did not run what it was sent. */
class RefusedError extends Error {
  constructor(answer: string) {
    const line = answer.trim().split('\n', 1)[0] ?? '';
    super(line === '' ? 'dnsdist said nothing' : line.slice(0, MAX_REASON_CHARACTERS));
  }
}

const UNREACHABLE =
  'dnsdist cannot be told of the rules and goes on with the last ones: see that it runs and that its controlSocket and setKey are those in the configuration; it is tried again every second';
const REFUSED =
  'dnsdist did not take the rules and goes on with the last ones: see that it is version 1.7.3 or later, has the configuration that `floodgate dns dnsdist-config` prints, and can read the folder of the names; it is tried again every second';

/**
 * One dnsdist, brought to what is wanted of it. A node that is away holds up no other one; when it is back, or was
 * started anew, it gets everything.
 */
export class DnsdistNode {
  readonly console: DnsdistConsole;
  /** How often it could not be reached, and how often it answered with an error. */
  readonly failures = { unreachable: 0, refused: 0 };
  readonly #log: Log;
  #wanted = '';
  #inForce = '';
  #failing = '';
  #bringing: Promise<void> | undefined;

  constructor(console: DnsdistConsole, log: Log) {
    this.console = console;
    this.#log = log;
  }

  /** Whether the node said that it has this command in force, over a connection that still stands. */
  has(command: string): boolean {
    return this.console.connected && this.#inForce === command;
  }

  /** Whether the node has what is wanted of it now. */
  get inForce(): boolean {
    return this.#wanted !== '' && this.has(this.#wanted);
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

  #works(): void {
    if (this.#failing !== '') this.#log.info({ node: this.#name }, 'dnsdist has the rules again');
    this.#failing = '';
  }

  #fails(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const unreachable = error instanceof ConsoleError;
    this.failures[unreachable ? 'unreachable' : 'refused']++;
    if (reason !== this.#failing)
      this.#log.warn({ node: this.#name, reason }, unreachable ? UNREACHABLE : REFUSED);
    this.#failing = reason;
  }

  get #name(): string {
    return `${this.console.address.host}:${this.console.address.port}`;
  }

  async #bring(): Promise<void> {
    while (!this.has(this.#wanted)) {
      const command = this.#wanted;
      try {
        const mark = createHash('sha256').update(command).digest('hex');
        const answer = await this.console.run(unlessInForce(command, mark), ATTEMPT_MS);
        if (answer.trim() !== mark) throw new RefusedError(answer);
        this.#inForce = command;
        this.#works();
      } catch (error) {
        this.#fails(error);
        return;
      }
    }
  }
}

/**
 * A node that has these rules already is left as it is. It answers with the mark; whatever else it answers is an error, as
 * the mark is set last.
 */
const unlessInForce = (command: string, mark: string): string =>
  `if floodgateInForce~="${mark}" then ${command} floodgateInForce="${mark}" end return floodgateInForce`;
