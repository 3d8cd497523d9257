import { QueryType } from '../../src/dns/protocol/index.ts';
import {
  type Answer,
  askTcp,
  query,
  RCODE,
  type Target,
  UdpClient,
} from '../../test/dns/support/dnsClient.ts';
import type { Random } from '../../test/support/random.ts';
import { repeat, rest, Tally } from './tally.ts';

const CLIENTS = 4;
const BETWEEN_QUERIES_MS = 10;
const TIMEOUT_MS = 3_000;
const TCP_SHARE = 0.2;

export const ZONE_NAME = 'example.test';
const HOSTS = 200;
export const ZONE_TEXT = `$TTL 300
@ IN SOA ns1 hostmaster ( 1 3600 600 86400 300 )
@ NS ns1
ns1 A 192.0.2.1
${Array.from({ length: HOSTS }, (_, i) => `h${i} A 192.0.2.${i}`).join('\n')}
`;

interface Load {
  readonly guard: Target;
  readonly random: Random;
  readonly isFinished: () => boolean;
}

/** Queries names of the zone over UDP and TCP, and compares the answers with the zone. */
export async function askNames(load: Load): Promise<{ tally: Tally; ended: Promise<unknown> }> {
  const tally = new Tally('DNS');
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => new UdpClient().open()));
  const ended = Promise.all(
    clients.map((client) =>
      repeat(load.isFinished, tally, () => askOne(load, client, tally)).finally(() => client.close()),
    ),
  );
  return { tally, ended };
}

async function askOne({ guard, random }: Load, client: UdpClient, tally: Tally): Promise<void> {
  await rest(BETWEEN_QUERIES_MS);
  const host = random.below(HOSTS);
  const packet = query(`h${host}.${ZONE_NAME}`, QueryType.A, random.below(0x10000));
  const answer = random.chance(TCP_SHARE)
    ? await overTcp(packet, guard)
    : await overUdp(packet, guard, client);
  if (answer === undefined || answer.truncated || answer.rcode === RCODE.SERVFAIL) return void tally.failed++;
  const isRight = answer.rcode === RCODE.NOERROR && answer.answers === 1 && answer.bytes.at(-1) === host;
  if (isRight) tally.right++;
  // REFUSED because of a rate limit: not a wrong answer.
  else if (answer.rcode === RCODE.REFUSED) tally.failed++;
  else tally.isWrong('the answer differs from the zone', { host, answer: answer.bytes.toString('hex') });
}

async function overUdp(packet: Buffer, guard: Target, client: UdpClient): Promise<Answer | undefined> {
  const id = packet.readUInt16BE(0);
  client.answers.clear();
  client.send(packet, guard);
  await client.wait(() => client.answers.has(id), TIMEOUT_MS);
  return client.answers.get(id);
}

async function overTcp(packet: Buffer, guard: Target): Promise<Answer | undefined> {
  const answers = await Promise.race([askTcp([packet], guard), rest(TIMEOUT_MS)]);
  return answers?.[0];
}
