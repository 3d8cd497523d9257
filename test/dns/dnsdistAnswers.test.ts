/** Answers that dnsdist itself generates with the generated configuration, compared with the embedded data plane. */
import { expect, it } from 'vitest';
import { HEADER_BYTES, QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, openUdpClient } from './support/clients.ts';
import { query, RCODE, type Target } from './support/dnsClient.ts';
import { startDnsdistGuard, waitUntilInForce } from './support/dnsdistInFront.ts';
import { opt, option, ownOpt, withRecords } from './support/edns.ts';
import { startFaultyServer } from './support/faultyServer.ts';
import { RULE, ZONE_NAME } from './support/guardInFront.ts';
import { noDnsdist, startDnsdist } from './support/realDnsdist.ts';

const changed = (packet: Buffer, offset: number, byte: number): Buffer => {
  const copy = Buffer.from(packet);
  copy[offset] = byte;
  return copy;
};
const www = query(`www.${ZONE_NAME}`, QueryType.A, 5);
const axfr = query(ZONE_NAME, QueryType.AXFR, 7);
const update = changed(query(ZONE_NAME, QueryType.SOA, 8), 2, 5 << 3);
const CHECKING_DISABLED = 0x10;
const PADDING = option(12, Buffer.alloc(8));

async function expectOwnAnswers(target: Target): Promise<void> {
  const client = await openUdpClient();
  for (const [packet, rcode] of [
    [axfr, RCODE.REFUSED],
    [update, RCODE.NOTIMP],
  ] as const)
    for (const dnssecOk of [false, true]) {
      const asked = withRecords(packet, opt({ dnssecOk, options: PADDING }));
      const answer = await client.ask(asked, target);
      expect(answer).toMatchObject({ rcode, answers: 0 });
      expect(answer.bytes.subarray(packet.length)).toEqual(ownOpt(dnssecOk));
      expect((await client.ask(packet, target)).bytes.length).toBe(packet.length);
    }
  const two = withRecords(www, opt(), opt());
  const answer = await client.ask(two, target);
  expect(answer.rcode).toBe(RCODE.FORMERR);
  expect(answer.bytes.length).toBeLessThanOrEqual(two.length);
  expect(await client.ask(withRecords(www, opt()), target)).toMatchObject({ rcode: RCODE.NOERROR });
  const header = changed(Buffer.alloc(HEADER_BYTES), 2, 0x01);
  const cookie = withRecords(header, opt({ options: option(10, Buffer.alloc(8)) }));
  expect(await client.ask(cookie, target)).toMatchObject({ rcode: RCODE.NOTIMP });
  expect(await client.ask(header, target)).toMatchObject({ rcode: RCODE.NOTIMP });

  // A name that is a compression pointer to itself.
  const pointer = Buffer.concat([
    changed(www.subarray(0, HEADER_BYTES), 1, 9),
    Buffer.of(0xc0, 0x0c, 0, 1, 0, 1),
  ]);
  client.send(pointer, target);
  const { bytes } = await client.ask(changed(www, 3, CHECKING_DISABLED), target);
  expect(bytes.readUInt8(3)).toBe(CHECKING_DISABLED);
  expect([...client.answers.keys()]).not.toContain(pointer.readUInt16BE(0));
  expect(await (await openTcpClient(target)).ask(pointer)).toBeUndefined();
}

it('dnsdist sends own answers with an OPT record if the query has one, before and after Floodgate connects', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const { dnsdist, guard, rules } = await startDnsdistGuard(RULE);
  await waitUntilInForce(guard, rules);
  await expectOwnAnswers(dnsdist);
  await guard.stop();
  await dnsdist.restart();
  await expectOwnAnswers(dnsdist);
});

it('queries with a malformed option, which dnsdist forwards, count for the detection of attacks', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const { dnsdist, guard, rules, client } = await startDnsdistGuard(RULE);
  await waitUntilInForce(guard, rules);
  const malformed = opt({ options: option(3, Buffer.alloc(1), 2) });
  let sent = 0;
  await until('the attack to be detected', () => {
    for (let i = 0; i < 100; i++, sent++)
      client.send(
        withRecords(query(`x${sent}.${ZONE_NAME}`, QueryType.A, sent % 60_000), malformed),
        dnsdist,
      );
    return guard.detector.attack;
  });
});

it('dnsdist answers SERVFAIL while no server is available, at most 1,000 times a second, and recovers', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const server = await startFaultyServer();
  atEnd(() => server.stop());
  const dnsdist = await startDnsdist(server);
  atEnd(() => dnsdist.stop());
  const client = await openUdpClient();
  server.mode = 'silent';
  await until('dnsdist to answer SERVFAIL', async () => {
    client.answers.delete(5);
    client.send(www, dnsdist);
    await client.wait(() => client.answers.has(5), 100);
    return client.answers.get(5)?.rcode === RCODE.SERVFAIL;
  });
  expect(await (await openTcpClient(dnsdist)).ask(www)).toMatchObject({ rcode: RCODE.SERVFAIL });
  const startedMs = Date.now();
  client.answers.clear();
  for (let id = 1000; id < 21_000; id++) {
    client.send(changed(changed(www, 0, id >> 8), 1, id & 0xff), dnsdist);
    if (id % 100 === 0) await client.wait(() => false, 1);
  }
  await client.ask(withRecords(www, opt()), dnsdist, 100);
  const seconds = Math.ceil((Date.now() - startedMs) / 1000);
  expect(client.answers.size).toBeLessThanOrEqual(1 + 500 * (seconds + 1));
  server.mode = 'right';
  await until('dnsdist to use the server again', async () => {
    client.answers.delete(5);
    client.send(www, dnsdist);
    await client.wait(() => client.answers.has(5), 100);
    return client.answers.get(5)?.rcode === RCODE.NOERROR;
  });
});
