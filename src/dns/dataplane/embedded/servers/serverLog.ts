/** Logs when the health status of a DNS server becomes worse, and when the server recovers. */
import type { Log } from '../../../../platform/logging/index.ts';
import type { ServerState } from '../udp/udpRelay.ts';
import { HealthStatus } from './serverHealth.ts';

const UNREACHABLE = 'DNS server unreachable; retrying every few seconds';
const SILENT = 'DNS server does not answer; probing it twice per second';
const FAILING = 'DNS server answers probes of dns.probeName with errors; not used while another server works';
const WORSE = 'DNS server fails more queries than others; used only for trial queries';
const BACK = 'DNS server answers again';
/** Seconds that a bad status must last before it is logged. During a flood, the status may change every second. */
const NOTES_TO_TELL = 10;
const MESSAGES: Readonly<Record<HealthStatus, string | undefined>> = {
  [HealthStatus.inUse]: undefined,
  [HealthStatus.worse]: WORSE,
  [HealthStatus.failing]: FAILING,
  [HealthStatus.silent]: SILENT,
  [HealthStatus.unreachable]: SILENT,
};

export class ServerLog {
  readonly #log: Log;
  readonly #logged: (string | undefined)[] = [];
  readonly #notWell: number[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  note(servers: readonly Pick<ServerState, 'address' | 'status' | 'unreachable'>[]): void {
    for (const [index, { address, status, unreachable }] of servers.entries()) {
      const isWell = status === HealthStatus.inUse;
      this.#notWell[index] = isWell ? 0 : (this.#notWell[index] ?? 0) + 1;
      const said = MESSAGES[status];
      const now = isWell ? undefined : (unreachable ?? said);
      if (now === this.#logged[index]) continue;
      if (!isWell && now === said && (this.#notWell[index] ?? 0) < NOTES_TO_TELL) continue;
      this.#logged[index] = now;
      const server = `${address.host} port ${address.port}`;
      if (now === undefined) this.#log.info({ server }, BACK);
      else if (now === SILENT) this.#log.warn({ server }, SILENT);
      else if (now === FAILING) this.#log.warn({ server }, FAILING);
      else if (now === WORSE) this.#log.warn({ server }, WORSE);
      else this.#log.warn({ server, reason: now }, UNREACHABLE);
    }
  }
}
