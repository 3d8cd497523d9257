import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccessEntry, FORMATS } from './formats.ts';

const entry: AccessEntry = {
  client: '192.0.2.7',
  atMs: Date.UTC(2026, 10, 2, 4, 5, 9, 120),
  method: 'POST',
  url: '/v1/mainnet',
  httpVersion: '1.1',
  status: 200,
  bytes: 1234,
  durationMs: 1.23456,
  referer: 'https://example.com',
  userAgent: 'viem "2" \\ \u009b31m\n',
};
/** Pattern of common log tools, with escaped quotes in quoted fields. */
const COMBINED =
  /^(\S+) (\S+) (\S+) \[(\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"\n$/;

describe('the combined format', () => {
  it('matches the Combined Log Format of web servers', () => {
    expect(FORMATS.combined(entry)).toBe(
      '192.0.2.7 - - [02/Nov/2026:04:05:09 +0000] "POST /v1/mainnet HTTP/1.1" 200 1234 ' +
        '"https://example.com" "viem \\"2\\" \\\\ \\x9b31m\\x0a"\n',
    );
  });

  it('shows a dash for missing values', () => {
    expect(
      FORMATS.combined({ ...entry, client: '', bytes: 0, referer: undefined, userAgent: undefined }),
    ).toBe('- - - [02/Nov/2026:04:05:09 +0000] "POST /v1/mainnet HTTP/1.1" 200 - "-" "-"\n');
  });
});

describe('the JSON format', () => {
  it('contains all fields and the duration', () => {
    expect(JSON.parse(FORMATS.json(entry))).toEqual({
      time: '2026-11-02T04:05:09.120Z',
      client: '192.0.2.7',
      method: 'POST',
      url: '/v1/mainnet',
      protocol: 'HTTP/1.1',
      status: 200,
      bytes: 1234,
      durationMs: 1.235,
      referer: 'https://example.com',
      userAgent: entry.userAgent,
    });
  });
});

describe('an access log line', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }));
  const any = fc.record({ url: text, userAgent: text });

  it('is a single line of visible ASCII characters for any client input', () => {
    fc.assert(
      fc.property(any, (sent) => {
        const [combined, json] = [
          FORMATS.combined({ ...entry, ...sent }),
          FORMATS.json({ ...entry, ...sent }),
        ];
        expect(combined).toMatch(COMBINED);
        expect(JSON.parse(json)).toMatchObject(sent);
        for (const line of [combined, json]) expect(line).toMatch(/^[\x20-\x7e]*\n$/);
      }),
    );
  });

  it('has a bounded length', () => {
    const long = { ...entry, url: '\u0000'.repeat(100_000), userAgent: '\u0000'.repeat(100_000) };
    for (const format of ['combined', 'json'] as const)
      expect(FORMATS[format](long).length).toBeLessThan(16 * 1024);
  });
});
