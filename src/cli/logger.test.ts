import { expect, it } from 'vitest';
import { loggerTo } from './logger.ts';

it('log lines contain no control characters from other servers', () => {
  const lines: string[] = [];
  const logger = loggerTo('info', (line) => lines.push(line));
  const text = 'a\u001b]0;x\u0007\r\nb\u009b2J\u202ec';
  logger.warn(`node: ${text}`);
  logger.child({}).warn({ reason: text }, `node: ${text}`);
  logger.info({ rules: 2 }, 'loaded %d rules', 2);
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toMatch(/^[^\p{C}]*\n$/u);
  const [first, second, third] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ level: 40, msg: expect.stringMatching(/^node: a[^\p{C}]*$/u) });
  expect(second).toMatchObject({ level: 40, msg: first.msg, reason: expect.stringContaining('\u001b') });
  expect(third).toMatchObject({ rules: 2, msg: 'loaded 2 rules' });
});
