import { expect, it } from 'vitest';
import { LimitedSamples } from '../../../detector/index.ts';
import { ReadResult } from '../../../protocol/index.ts';
import { PacketFaults, ResponseTimes } from '../../index.ts';
import { Backends } from '../servers/backends.ts';
import { probeOf } from '../servers/probe.ts';
import { ListenAddresses } from '../servers/proxyHeader.ts';
import { ServfailLimit } from '../servfailLimit.ts';
import { UdpFrontend } from './udpFrontend.ts';

const LOOPBACK = '127.0.0.1';
const KEY = { high: 1, low: 2 };

function setUp() {
  const faults = new PacketFaults(() => {});
  const backends = new Backends(
    [{ host: LOOPBACK, port: 9 }],
    { timeoutMs: 2000, key: KEY, probe: probeOf(undefined, KEY) },
    {
      faults,
      listenAddresses: new ListenAddresses(),
      responseTimes: new ResponseTimes(),
      onAnswer: () => {},
      onUnanswered: () => {},
      onNoServer: () => false,
    },
  );
  const policy = {
    key: KEY,
    userZone: 0,
    decide: () => 0 as never,
    decideCookie: () => 0 as never,
    countUser: () => undefined,
  };
  const frontend = new UdpFrontend(
    { host: LOOPBACK, frontend: 0, guarded: true, sharesPorts: false },
    { policy, backends, samples: new LimitedSamples(), faults, servfails: new ServfailLimit() },
  );
  return { frontend, backends };
}

it('the receive buffer is limited to a quarter of a second while the thread is saturated, otherwise to its maximum', async () => {
  const { frontend, backends } = setUp();
  await frontend.listen(LOOPBACK, 0);
  try {
    const bytes = (): number => frontend.socket.getRecvBufferSize();
    const longest = bytes();
    const shortFor = (packets: number): number => {
      frontend.read[ReadResult.ok] = (frontend.read[ReadResult.ok] ?? 0) + packets;
      frontend.adjustReceiveBuffer(true);
      return bytes();
    };
    const least = shortFor(0);
    expect(least).toBeLessThan(longest);
    expect(shortFor(10)).toBe(least);
    const some = shortFor(800);
    expect(shortFor(1600)).toBe(2 * some);
    expect(shortFor(1_000_000)).toBe(longest);
    shortFor(0);
    frontend.adjustReceiveBuffer(false);
    expect(bytes()).toBe(longest);
  } finally {
    await frontend.close();
    backends.close();
  }
});

it('listening rejects if another socket has the address', async () => {
  const [first, second] = [setUp(), setUp()];
  await first.frontend.listen(LOOPBACK, 0);
  const { port } = first.frontend.socket.address();
  await expect(second.frontend.listen(LOOPBACK, port)).rejects.toThrow(/EADDRINUSE/);
  for (const { frontend, backends } of [first, second]) {
    await frontend.close();
    backends.close();
  }
});
