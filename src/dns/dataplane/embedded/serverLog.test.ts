import { expect, it } from 'vitest';
import { QUIET } from '../../../platform/logging/index.ts';
import { ServerLog } from './serverLog.ts';

it('says once that a server is away and why, once that it is back, and nothing of one that comes and goes', () => {
  const lines: string[] = [];
  const log = new ServerLog({
    ...QUIET,
    info: (_, message) => void lines.push(message),
    warn: (fields, message) => void lines.push(`${JSON.stringify(fields)} ${message}`),
  });
  const address = { host: '192.0.2.1', port: 53 };
  const note = (times: number, up: boolean, unreachable?: string) => {
    for (let i = 0; i < times; i++) log.note([{ address, up, unreachable }]);
  };
  note(5, true);
  note(9, false);
  note(1, true);
  note(9, false);
  note(1, true);
  expect(lines).toEqual([]);
  note(30, false);
  note(5, true);
  note(30, false, 'connect ENETUNREACH');
  note(5, true);
  expect(lines).toEqual([
    '{"server":"192.0.2.1 port 53"} the DNS server does not answer; asked every second whether it is back',
    'the DNS server answers again',
    '{"server":"192.0.2.1 port 53","reason":"connect ENETUNREACH"} the DNS server cannot be reached; tried again every few seconds',
    'the DNS server answers again',
  ]);
});
