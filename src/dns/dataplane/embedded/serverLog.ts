/** A line in the log when a server behind can no longer be used, and when it can again. */
import type { Log } from '../../../platform/logging/index.ts';
import type { ServerState } from './udpRelay.ts';

const UNREACHABLE = 'the DNS server cannot be reached; tried again every few seconds';
const SILENT = 'the DNS server does not answer; asked every second whether it is back';
const BACK = 'the DNS server answers again';
/** A server in a flood comes and goes by the second, and each time would be two lines. */
const SILENT_NOTES = 10;

export class ServerLog {
  readonly #log: Log;
  /** What was last told of each server, by its place in the configuration; nothing where it was well. */
  readonly #told: (string | undefined)[] = [];
  /** For how many notes in a row each was silent. */
  readonly #silent: number[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Call it every second. */
  note(servers: readonly Pick<ServerState, 'address' | 'up' | 'unreachable'>[]): void {
    for (const [index, { address, up, unreachable }] of servers.entries()) {
      this.#silent[index] = up ? 0 : (this.#silent[index] ?? 0) + 1;
      const now = up ? undefined : (unreachable ?? SILENT);
      if (now === this.#told[index]) continue;
      if (now === SILENT && (this.#silent[index] ?? 0) < SILENT_NOTES) continue;
      this.#told[index] = now;
      const server = `${address.host} port ${address.port}`;
      if (now === undefined) this.#log.info({ server }, BACK);
      else if (now === SILENT) this.#log.warn({ server }, SILENT);
      else this.#log.warn({ server, reason: now }, UNREACHABLE);
    }
  }
}
