/** A line in the log when a server behind can no longer be used, and when it can again. */
import type { Log } from '../../../platform/logging/index.ts';
import { Standing } from './serverHealth.ts';
import type { ServerState } from './udpRelay.ts';

const UNREACHABLE = 'the DNS server cannot be reached; tried again every few seconds';
const SILENT = 'the DNS server does not answer; asked twice a second whether it is back';
const FAILING = 'the DNS server answers with errors; left out while another does not';
const WORSE =
  'the DNS server leaves more queries without a right answer than others; left out but for a trial';
const BACK = 'the DNS server answers again';
/** A server in a flood comes and goes by the second, and each time would be two lines. */
const NOTES_TO_TELL = 10;
const SAID: Readonly<Record<Standing, string | undefined>> = {
  [Standing.inUse]: undefined,
  [Standing.worse]: WORSE,
  [Standing.failing]: FAILING,
  [Standing.silent]: SILENT,
  [Standing.unreachable]: SILENT,
};

export class ServerLog {
  readonly #log: Log;
  /** What was last told of each server, by its place in the configuration; nothing where it was well. */
  readonly #told: (string | undefined)[] = [];
  /** For how many notes in a row each was not well. */
  readonly #notWell: number[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Call it every second. */
  note(servers: readonly Pick<ServerState, 'address' | 'standing' | 'unreachable'>[]): void {
    for (const [index, { address, standing, unreachable }] of servers.entries()) {
      const isWell = standing === Standing.inUse;
      this.#notWell[index] = isWell ? 0 : (this.#notWell[index] ?? 0) + 1;
      const said = SAID[standing];
      const now = isWell ? undefined : (unreachable ?? said);
      if (now === this.#told[index]) continue;
      if (!isWell && now === said && (this.#notWell[index] ?? 0) < NOTES_TO_TELL) continue;
      this.#told[index] = now;
      const server = `${address.host} port ${address.port}`;
      if (now === undefined) this.#log.info({ server }, BACK);
      else if (now === SILENT) this.#log.warn({ server }, SILENT);
      else if (now === FAILING) this.#log.warn({ server }, FAILING);
      else if (now === WORSE) this.#log.warn({ server }, WORSE);
      else this.#log.warn({ server, reason: now }, UNREACHABLE);
    }
  }
}
