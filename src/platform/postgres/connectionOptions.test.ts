import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BadPostgresUrl, connectionOptions } from './connectionOptions.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-connection-options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fileOf = (name: string): string => {
  const file = join(folder, name);
  writeFileSync(file, `the ${name}`);
  return file;
};

describe('a PostgreSQL URL', () => {
  it('contains host, port, user, password and database, with percent-encoding', () => {
    expect(connectionOptions('postgres://us%40er:p%2Fa%3As@db.example:6543/ru%20les')).toMatchObject({
      ...{ host: 'db.example', port: 6543, user: 'us@er', password: 'p/a:s', database: 'ru les' },
      application_name: 'floodgate',
    });
    expect(connectionOptions('postgresql://user@[2001:db8::1]/')).toMatchObject({
      ...{ host: '2001:db8::1', port: 5432, user: 'user', database: 'user' },
    });
    expect(connectionOptions('postgres://user@localhost/rules?host=/run/postgresql')).toMatchObject({
      ...{ host: '/run/postgresql', ssl: false },
    });
  });

  it('requires verified TLS except on this machine', () => {
    expect(connectionOptions('postgres://u@db.example/r').ssl).toEqual({ rejectUnauthorized: true });
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]'])
      expect(connectionOptions(`postgres://u@${host}/r`).ssl, host).toBe(false);
    for (const host of ['localhost.example', '127.0.0.1.example', '10.0.0.1'])
      expect(connectionOptions(`postgres://u@${host}/r`).ssl, host).toEqual({ rejectUnauthorized: true });
    expect(connectionOptions('postgres://u@127.0.0.1/r?host=10.0.0.1').ssl).toEqual({
      rejectUnauthorized: true,
    });
  });

  it.each([
    ['disable', false],
    ['require', { rejectUnauthorized: false, checkServerIdentity: expect.any(Function) }],
    ['verify-ca', { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
    ['verify-full', { rejectUnauthorized: true }],
  ])('with sslmode=%s has the same effect as in libpq', (mode, ssl) => {
    expect(connectionOptions(`postgres://u@db.example/r?sslmode=${mode}`).ssl).toEqual(ssl);
    if (ssl === false) return;
    const [ca, cert, key] = ['authorities', 'certificate', 'key'].map(fileOf);
    const files = `sslrootcert=${ca}&sslcert=${cert}&sslkey=${key}`;
    expect(connectionOptions(`postgres://u@db.example/r?sslmode=${mode}&${files}`).ssl).toEqual({
      ...{ ...(ssl as object), rejectUnauthorized: true },
      ...{ ca: 'the authorities', cert: 'the certificate', key: 'the key' },
    });
    expect(connectionOptions(`postgres://u@db.example/r?sslmode=${mode}&sslrootcert=system`).ssl).toEqual({
      ...{ ...(ssl as object), rejectUnauthorized: true },
    });
  });

  it.each([
    ['postgres://u:secret@h/r?sslmode=prefer', /sslmode is "prefer"; allowed: disable, require/],
    ['postgres://u:secret@h/r?sslmod=require', /unknown parameter "sslmod"; allowed: sslmode/],
    ['postgres://u:secret@h/r?sslcert=/x', /sslcert and sslkey must be set together/],
    ['postgres://u:secret@h/r?sslrootcert=/no/such', /sslrootcert: the file "\/no\/such".*ENOENT/],
    ['postgres://u:secret@h:port/r', /expected a URL like/],
    ['mysql://u:secret@h/r', /expected a URL like/],
    ['postgres://u:%zzsecret@h/r', /followed by two hex digits/],
  ])('%s is rejected with the reason and without the password', (url, reason) => {
    const refused = (): unknown => connectionOptions(url);
    expect(refused).toThrow(BadPostgresUrl);
    expect(refused).toThrow(reason);
    expect(refused).not.toThrow(/secret/);
  });
});
