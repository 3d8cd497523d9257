import { expect, it } from 'vitest';
import { hostClient } from './hostClient.ts';

it('a client whose connection ends before its user listens for errors does not end the process', () => {
  const Client = hostClient([{ host: '127.0.0.1', port: 9 }], true);
  const ended = new Error('terminating connection due to unexpected postmaster exit');
  expect(() => new Client().emit('error', ended)).not.toThrow();
});
