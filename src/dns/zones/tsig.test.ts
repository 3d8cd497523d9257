import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameToWire, queryPacket } from '../protocol/index.ts';
import { TsigSession } from './tsig.ts';
import { parseTsigKey, parseTsigKeys } from './tsigKey.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const KEY = parseTsigKey(`hmac-sha256:k.test:${SECRET}`);
const NOW = Date.UTC(2026, 10, 22);
const query = (): Buffer => Buffer.from(queryPacket(nameToWire('example.test'), 252, 7));

/** Returns an answer to the signed query, signed as in RFC 8945, 5.4. Options: another time, an error code. */
function answerTo(signed: Buffer, { atMs = NOW, error = 0 } = {}): Buffer {
  const bare = query();
  bare[2] = 0x84;
  const like = new TsigSession(KEY).sign(bare, atMs);
  const start = bare.length;
  const data = start + nameToWire(KEY.name).length + 10;
  const mac = data + nameToWire(KEY.algorithm).length + 10;
  like.writeUInt16BE(error, mac + 34);
  const theirs = signed.subarray(-38, -6);
  const hmac = createHmac('sha256', KEY.secret).update(Uint8Array.of(0, 32)).update(theirs).update(bare);
  hmac.update(nameToWire(KEY.name)).update(Uint8Array.of(0, 255, 0, 0, 0, 0));
  hmac.update(like.subarray(data, mac - 2)).update(like.subarray(mac + 34));
  hmac.digest().copy(like, mac);
  return like;
}

describe('TSIG session', () => {
  it('accepts only answers signed with the key, for this query, and at the current time', () => {
    const session = () => {
      const started = new TsigSession(KEY);
      return { signed: started.sign(query(), NOW), started };
    };
    const good = session();
    expect(good.started.verify(answerTo(good.signed), NOW)).toHaveLength(1);
    const late = session();
    expect(() => late.started.verify(answerTo(late.signed, { atMs: NOW - 400_000 }), NOW)).toThrow(
      'check the clocks',
    );
    const refused = session();
    expect(() => refused.started.verify(answerTo(refused.signed, { error: 18 }), NOW)).toThrow('BADTIME');
    // A replayed answer to another query.
    const other = new TsigSession(KEY);
    const before = other.sign(queryPacket(nameToWire('example.test'), 252, 8), NOW);
    expect(() => session().started.verify(answerTo(before), NOW)).toThrow('is invalid');
  });

  it('rejects the hundredth unsigned message in a row', () => {
    const session = new TsigSession(KEY);
    session.verify(answerTo(session.sign(query(), NOW)), NOW);
    for (let i = 0; i < 99; i++) expect(session.verify(query(), NOW)).toEqual([]);
    expect(() => session.verify(query(), NOW)).toThrow('more than 99');
  });

  it('rejects answers with a changed byte, and arbitrary bytes', () => {
    const session = new TsigSession(KEY);
    const answer = answerTo(session.sign(query(), NOW));
    fc.assert(
      fc.property(fc.nat(answer.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(answer);
        changed[at] = (changed[at] ?? 0) ^ flip;
        // Skip bytes that the signature does not cover: case of the key name, TTL, message ID.
        const same = new TsigSession(KEY);
        same.sign(query(), NOW);
        if (at > 1 && !isFree(at, changed)) expect(() => same.verify(changed, NOW)).toThrow(Error);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 12, maxLength: 200 }), (bytes) => {
        const any = new TsigSession(KEY);
        any.sign(query(), NOW);
        expect(() => any.verify(Buffer.from(bytes), NOW)).toThrow(Error);
      }),
    );
    function isFree(at: number, changed: Buffer): boolean {
      const names = query().length;
      const ttl = names + nameToWire(KEY.name).length + 4;
      if (at >= ttl && at < ttl + 4) return true;
      return changed.toString('latin1').toLowerCase() === answer.toString('latin1').toLowerCase();
    }
  });
});

describe('TSIG key', () => {
  it('is parsed in the forms of dig and tsig-keygen', () => {
    const statement = `key "K.Test." {\n\talgorithm hmac-sha512;\n\tsecret "${SECRET}";\n};\n`;
    expect(parseTsigKeys(statement)).toEqual([
      { name: 'k.test', algorithm: 'hmac-sha512', secret: Buffer.from(SECRET, 'base64') },
    ]);
    expect(parseTsigKeys(`# two\nhmac-sha256:k.test:${SECRET}\n\nhmac-sha512:l:${SECRET}\n`)).toHaveLength(2);
  });

  it.each([
    ['nothing', /no TSIG key|must have the form/],
    [`hmac-md5:k:${SECRET}`, /algorithm/],
    [`hmac-sha256::${SECRET}`, /not a domain name/],
    ['hmac-sha256:k:c2hvcnQ=', /at least 16 bytes/],
    [`hmac-sha256:k:${SECRET}!`, /must be base64/],
    [`hmac-sha256:k:x:${SECRET}`, /must have the form/],
  ])('is rejected without showing its secret: %s', (text, wanted) => {
    expect(() => parseTsigKeys(text)).toThrow(wanted);
    try {
      parseTsigKeys(text);
    } catch (error) {
      expect(String(error)).not.toContain(SECRET.slice(0, 8));
    }
  });
});
