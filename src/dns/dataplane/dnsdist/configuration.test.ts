import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dnsdistConfiguration } from './configuration.ts';

const STRING = /"(?:[A-Za-z0-9.:[\]+/=_ -]|\\\d{3})*"/g;

it('the dnsdist configuration is the same Lua for any hosts and keys, except for the text within quotes', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('") os.execute("x") --', '\\', '\n', ']]', '\\"..os.exit().."'),
  );
  const shapeOf = (host: string, key: string): string => {
    const address = { host, port: 53 };
    const all = {
      listen: [address, address],
      servers: [address],
      console: address,
      key,
      dnstap: address,
      transfersAllow: [],
      folder: host,
    };
    return dnsdistConfiguration(all).replace(STRING, 'TEXT');
  };
  const shape = shapeOf('192.0.2.1', 'a2V5');
  expect(shape).toContain('setLocal(TEXT)\naddLocal(TEXT)\n');
  expect(shape).toContain('setUDPSocketBufferSizes(4194304,4194304)');
  fc.assert(
    fc.property(text, text, (host, key) => {
      expect(shapeOf(host, key)).toBe(shape);
    }),
  );
});
