import { expect, it } from 'vitest';
import { QUIET } from '../../../platform/logging/index.ts';
import { Standing } from './serverHealth.ts';
import { ServerLog } from './serverLog.ts';

it('says once that a server is away and why, once that it is back, and nothing of one that comes and goes', () => {
  const lines: string[] = [];
  const log = new ServerLog({
    ...QUIET,
    info: (_, message) => void lines.push(message),
    warn: (fields, message) => void lines.push(`${JSON.stringify(fields)} ${message}`),
  });
  const address = { host: '192.0.2.1', port: 53 };
  const note = (times: number, standing: Standing, unreachable?: string) => {
    for (let i = 0; i < times; i++) log.note([{ address, standing, unreachable }]);
  };
  const { inUse, worse, failing, silent } = Standing;
  note(5, inUse);
  note(9, silent);
  note(1, inUse);
  note(9, silent);
  note(1, inUse);
  expect(lines).toEqual([]);
  note(30, silent);
  note(5, inUse);
  note(30, Standing.unreachable, 'connect ENETUNREACH');
  note(5, inUse);
  note(30, failing);
  note(30, worse);
  expect(lines).toEqual([
    '{"server":"192.0.2.1 port 53"} the DNS server does not answer; asked twice a second whether it is back',
    'the DNS server answers again',
    '{"server":"192.0.2.1 port 53","reason":"connect ENETUNREACH"} the DNS server cannot be reached; tried again every few seconds',
    'the DNS server answers again',
    '{"server":"192.0.2.1 port 53"} the DNS server answers with errors; left out while another does not',
    '{"server":"192.0.2.1 port 53"} the DNS server leaves more queries without a right answer than others; left out but for a trial',
  ]);
});
