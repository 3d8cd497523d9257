import { createHash } from 'node:crypto';
import { failureReporter } from '../../../platform/background/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import { ConsoleError, type DnsdistConsole } from './console.ts';

/** Timeout of one attempt to send the rules to a node. Short, so that a node that recovers gets the rules soon. */
const ATTEMPT_MS = 1000;
/** Maximum length of a logged error of dnsdist. Only its first line is logged, without the Lua stack trace. */
const MAX_REASON_CHARACTERS = 300;

/** Thrown if dnsdist is reachable, but returns an error instead of running the command. */
class RefusedError extends Error {
  constructor(answer: string) {
    const line = answer.trim().split('\n', 1)[0] ?? '';
    super(line === '' ? 'dnsdist returned an empty answer' : line.slice(0, MAX_REASON_CHARACTERS));
  }
}

const UNREACHABLE =
  'cannot send rules to dnsdist, which keeps the last ones; retrying every second. Check that it runs and that its controlSocket and setKey match the configuration';
const REFUSED =
  'dnsdist rejected the rules and keeps the last ones; retrying every second. Check that it is version 1.7.3 or later, uses the output of `floodgate dns dnsdist-config`, and can read the folder of known names';

/** Returns the number of servers that are up. The console of dnsdist prints only texts. */
const COUNT_SERVERS =
  'local up=0 for _,server in ipairs(getServers()) do if server:isUp() then up=up+1 end end return tostring(up)';

/**
 * Keeps the rules of one dnsdist node up to date. An unreachable node does not delay the other nodes. After it has
 * recovered or restarted, it gets all rules.
 */
export class DnsdistNode {
  readonly console: DnsdistConsole;
  /** Number of failed attempts to send rules: no connection (`unreachable`), or an error of dnsdist (`refused`). */
  readonly failures = { unreachable: 0, refused: 0 };
  readonly #log: Log;
  #serversUp: number | undefined;
  #readingServers = false;
  #wanted = '';
  #inForce = '';
  #failing = '';
  #bringing: Promise<void> | undefined;

  constructor(console: DnsdistConsole, log: Log) {
    this.console = console;
    this.#log = log;
  }

  /** Returns true if the node has confirmed this command, and the connection to it is still open. */
  hasApplied(command: string): boolean {
    return this.console.connected && this.#inForce === command;
  }

  get inForce(): boolean {
    return this.#wanted !== '' && this.hasApplied(this.#wanted);
  }

  /** Number of DNS servers that are up according to the probes of dnsdist. Undefined if it is unknown. */
  get serversUp(): number | undefined {
    return this.console.connected ? this.#serversUp : undefined;
  }

  /** Reads `serversUp`. Errors are ignored here, because `apply` reports an unreachable node. */
  async readServers(): Promise<void> {
    if (this.#readingServers || !this.console.connected) return;
    this.#readingServers = true;
    const answer = await this.console.run(COUNT_SERVERS, ATTEMPT_MS).catch(() => '');
    this.#serversUp = /^\d+\s*$/.test(answer) ? Number(answer) : undefined;
    this.#readingServers = false;
  }

  /** Sends a command to the node, unless the node has applied it. Called every second, which retries failures. */
  apply(command: string): void {
    this.#wanted = command;
    this.#bringing ??= this.#bring()
      .catch(failureReporter('rules for dnsdist'))
      .finally(() => {
        this.#bringing = undefined;
      });
  }

  /** Resolves when no command is being sent. */
  async settled(): Promise<void> {
    await this.#bringing;
  }

  #reportRecovery(): void {
    if (this.#failing !== '') this.#log.info({ node: this.#name }, 'dnsdist has the current rules again');
    this.#failing = '';
  }

  #reportFailure(error: unknown): void {
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
    while (!this.hasApplied(this.#wanted)) {
      const command = this.#wanted;
      try {
        const mark = createHash('sha256').update(command).digest('hex');
        const answer = await this.console.run(skipIfApplied(command, mark), ATTEMPT_MS);
        if (answer.trim() !== mark) throw new RefusedError(answer);
        this.#inForce = command;
        this.#reportRecovery();
        if (this.#serversUp === undefined) await this.readServers();
      } catch (error) {
        this.#reportFailure(error);
        return;
      }
    }
  }
}

/** Makes dnsdist skip a command that it has already applied. The output must be `mark`; other output is an error. */
const skipIfApplied = (command: string, mark: string): string =>
  `if floodgateInForce~="${mark}" then ${command} floodgateInForce="${mark}" end return floodgateInForce`;
