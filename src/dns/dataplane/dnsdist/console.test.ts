import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ConsoleError, DnsdistConsole } from './console.ts';

it('a command fails in time although the node sends a byte from time to time', async () => {
  const server = createServer((socket) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(1024 * 1024);
    socket.once('data', () => socket.write(Buffer.concat([Buffer.alloc(24), length])));
    const timer = setInterval(() => socket.write('x'), 20);
    socket.on('error', () => undefined).on('close', () => clearInterval(timer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const console = new DnsdistConsole({ host: '127.0.0.1', port }, Buffer.alloc(32).toString('base64'));
  onTestFinished(() => {
    console.close();
    server.close();
  });
  const command = console.run('showVersion()', 200);
  await expect(command).rejects.toBeInstanceOf(ConsoleError);
  await expect(command).rejects.toThrow('no answer within the time limit');
});
