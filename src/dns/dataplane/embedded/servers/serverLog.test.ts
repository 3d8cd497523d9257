import { expect, it } from 'vitest';
import { QUIET } from '../../../../platform/logging/index.ts';
import { HealthStatus } from './serverHealth.ts';
import { ServerLog } from './serverLog.ts';

it('an outage with its reason and the recovery are logged once, and short outages are not logged', () => {
  const lines: string[] = [];
  const log = new ServerLog({
    ...QUIET,
    info: (_, message) => void lines.push(message),
    warn: (fields, message) => void lines.push(`${JSON.stringify(fields)} ${message}`),
  });
  const address = { host: '192.0.2.1', port: 53 };
  const note = (times: number, standing: HealthStatus, unreachable?: string) => {
    for (let i = 0; i < times; i++) log.note([{ address, status: standing, unreachable }]);
  };
  const { inUse, worse, failing, silent } = HealthStatus;
  note(5, inUse);
  note(9, silent);
  note(1, inUse);
  note(9, silent);
  note(1, inUse);
  expect(lines).toEqual([]);
  note(30, silent);
  note(5, inUse);
  note(30, HealthStatus.unreachable, 'connect ENETUNREACH');
  note(5, inUse);
  note(30, failing);
  note(30, worse);
  expect(lines).toEqual([
    '{"server":"192.0.2.1 port 53"} DNS server does not answer; probing it twice per second',
    'DNS server answers again',
    '{"server":"192.0.2.1 port 53","reason":"connect ENETUNREACH"} DNS server unreachable; retrying every few seconds',
    'DNS server answers again',
    '{"server":"192.0.2.1 port 53"} DNS server answers probes of dns.probeName with errors; not used while another server works',
    '{"server":"192.0.2.1 port 53"} DNS server fails more queries than others; used only for trial queries',
  ]);
});
