import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BadPostgresUrl, connectionOptions, databaseHosts } from './connectionOptions.ts';

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
      host: 'db.example',
      port: 6543,
      user: 'us@er',
      password: 'p/a:s',
      database: 'ru les',
      application_name: 'floodgate',
    });
    expect(connectionOptions('postgresql://user@[2001:db8::1]/')).toMatchObject({
      host: '2001:db8::1',
      port: 5432,
      user: 'user',
      database: 'user',
    });
    expect(connectionOptions('postgres://user@localhost/rules?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
      ssl: false,
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
      ...(ssl as object),
      rejectUnauthorized: true,
      ca: 'the authorities',
      cert: 'the certificate',
      key: 'the key',
    });
    expect(connectionOptions(`postgres://u@db.example/r?sslmode=${mode}&sslrootcert=system`).ssl).toEqual({
      ...(ssl as object),
      rejectUnauthorized: true,
    });
  });

  it('may contain several hosts, of which one that accepts writes is used', () => {
    const url = 'postgres://us%40er:p%2Ca@one.example:6543,[2001:db8::1],two.example/r?sslmode=require';
    const { hosts, isReadWrite } = databaseHosts(`${url}&target_session_attrs=read-write`);
    expect(hosts.map(({ host, port }) => [host, port])).toEqual([
      ['one.example', 6543],
      ['2001:db8::1', 5432],
      ['two.example', 5432],
    ]);
    for (const host of hosts) expect(host).toMatchObject({ user: 'us@er', password: 'p,a', database: 'r' });
    expect(isReadWrite).toBe(true);
    const one = databaseHosts('postgres://u@localhost/r?host=/run/postgresql');
    expect(one).toMatchObject({ hosts: [{ host: '/run/postgresql' }], isReadWrite: false });
  });

  it.each([
    ['postgres://u:secret@h,/r', /one of several hosts is empty/],
    ['postgres://u:secret@h,i/r?host=/run', /host must not be set if the URL contains several hosts/],
    ['postgres://u:secret@a,b,c,d,e,f,g,h,i/r', /contains 9 hosts; allowed: at most 8/],
    ['postgres://u:secret@h/r?target_session_attrs=primary', /"primary"; allowed: any, read-write/],
    ['postgres://u:secret@h,i:port/r', /expected a URL like/],
  ])('%s with a wrong list of hosts is rejected', (url, reason) => {
    expect(() => databaseHosts(url)).toThrow(reason);
    expect(() => databaseHosts(url)).not.toThrow(/secret/);
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
